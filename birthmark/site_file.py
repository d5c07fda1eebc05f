"""The configuration file of a site: every section, and what each command reads of it.

`serve` and `follow` need no section; the nightly run, `install` and `doctor` need those of the
nightly run.
"""

from __future__ import annotations

from typing import Any

from pydantic import model_validator

from birthmark.serving.settings import Settings
from birthmark.training.config import Config, Sections

SHARED = {
    ("follow", "registry"): ("registry", "directory"),
    ("serve", "registry"): ("registry", "directory"),
    ("serve", "history"): ("follow", "history"),
    ("serve", "followed"): ("follow", "datasets"),
    ("serve", "log_predictions"): ("audit", "log"),
}
"""Settings that default to another section's, because both state the same fact."""


class SiteFile(Sections):
    """A configuration file without required sections."""

    serve: Settings = Settings()

    @model_validator(mode="before")
    @classmethod
    def _shared(cls, tables: dict[str, Any]) -> dict[str, Any]:
        shared = {"serve": {}, **tables}
        for (section, name), (source, key) in SHARED.items():
            own, other = shared.get(section), shared.get(source)
            fact = other.get(key) if isinstance(other, dict) else None
            if isinstance(own, dict) and isinstance(fact, str):  # else its own section is refused
                shared[section] = {name: fact, **own}
        return shared


class SiteConfig(Config, SiteFile):
    """A configuration file with the sections that the nightly run needs."""
