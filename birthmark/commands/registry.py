"""The registry of the commands that manage stored versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from birthmark.options import Options
from birthmark.serving.settings import Settings, variable

if TYPE_CHECKING:  # help does without it, and starts sooner
    from birthmark.training.registry.versions import Registry

Place = Annotated[Settings, Options(("registry",), variable=variable)]
"""The setting that chooses the registry."""


def stored_registry(place: Path | str, cache: Path | None = None) -> Registry:
    """Return the registry; raise RegistryError if there is none."""
    from birthmark.training.registry.versions import Registry, RegistryError

    stored = Registry(place, cache=cache)
    if why := stored.missing():
        raise RegistryError(f"{why}; expected a registry")
    return stored


def percent(value: float | None) -> str:
    """Return a percentage as a table shows it; empty if it is unknown."""
    return "" if value is None else f"{value:.2f}%"
