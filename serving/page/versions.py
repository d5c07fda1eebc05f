"""The versions of the model, with their states and cards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from birthmark.data.generated import describe
from birthmark.training.registry.versions import Registry, RegistryError, with_refresh
from birthmark.training.reports.labels import CARD_HTML, CARD_JSON

SHOWN = 10
"""The most versions listed, the newest ones."""


@dataclass
class Versions:
    """The versions in a registry; their manifests never change, and are read once."""

    registry: Registry
    _read: dict[str, dict[str, Any]] = field(default_factory=dict)

    def listed(self) -> list[dict[str, Any]]:
        """Return the newest versions, newest first, with their states."""
        current, pinned = self.registry.current(), self.registry.pinned()
        newest = with_refresh(self.registry)[-SHOWN:]
        # Other threads may read at the same time, so replace the dictionary, never change it.
        before = self._read
        self._read = summaries = {name: before.get(name) or self._about(name) for name in newest}
        return [
            {**summaries[name], "current": name == current, "pinned": name == pinned}
            for name in reversed(newest)
        ]

    def _about(self, version: str) -> dict[str, Any]:
        """Return when a version was made, and why it was not published, if it was not."""
        summary: dict[str, Any] = {"version": version, "created": "", "refused": "", "card": False}
        try:
            manifest = self.registry.manifest(version)
        except (RegistryError, OSError) as error:
            return summary | {"damaged": str(error)}
        decision = manifest.get("decision") or {}
        return summary | {
            "created": manifest["created"],
            "refused": "" if decision.get("publish", True) else decision.get("reason"),
            "card": CARD_HTML in manifest["parts"],
        }


def card(registry: Registry, version: str) -> dict[str, Any] | None:
    """Return the card of a version; None if it has none that can be read."""
    try:
        content = json.loads((registry.directory(version) / CARD_JSON).read_bytes())
        return content if isinstance(content, dict) else None
    except (RegistryError, OSError, ValueError):
        return None


def never_yes(card: Mapping[str, Any] | None) -> list[str]:
    """Return the predicates that abstain by a card: no threshold keeps their bound."""
    bound = (card or {}).get("bound") or {}
    return [key for key, row in (bound.get("predicates") or {}).items() if row["abstains"]]


def marks(trained_on: dict[str, Any]) -> str:
    """Return a description of generated training data; empty if it is real."""
    return describe(trained_on.get("generated") or [])
