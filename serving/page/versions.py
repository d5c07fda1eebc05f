"""The versions of the model, what became of each, and their cards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from birthmark.data.generated import describe
from birthmark.training.registry.versions import Registry, RegistryError
from birthmark.training.reports.labels import CARD_HTML, CARD_JSON

SHOWN = 10
"""How many versions are listed, the newest."""


@dataclass
class Versions:
    """The versions in a registry: what is written of them never changes, and is read once."""

    registry: Registry
    _read: dict[str, dict[str, Any]] = field(default_factory=dict)

    def listed(self) -> list[dict[str, Any]]:
        """Return the newest versions, newest first, with what became of each."""
        current, pinned = self.registry.current(), self.registry.pinned()
        newest = self.registry.versions()[-SHOWN:]
        # Others may ask at the same time: what is kept is replaced, never changed.
        before = self._read
        self._read = told = {name: before.get(name) or self._about(name) for name in newest}
        return [
            {**told[name], "current": name == current, "pinned": name == pinned}
            for name in reversed(newest)
        ]

    def _about(self, version: str) -> dict[str, Any]:
        """Return of a version when it was made and why, if so, it was kept aside."""
        told: dict[str, Any] = {"version": version, "created": "", "aside": None, "card": False}
        try:
            manifest = self.registry.manifest(version)
        except (RegistryError, OSError) as error:
            return told | {"damaged": str(error)}
        decision = manifest.get("decision") or {}
        return told | {
            "created": manifest["created"],
            "aside": None if decision.get("publish", True) else decision.get("reason"),
            "card": CARD_HTML in manifest["parts"],
        }


def card(registry: Registry, version: str) -> dict[str, Any] | None:
    """Return what the card of a version says; None where it has none that can be read."""
    try:
        found = json.loads((registry.directory(version) / CARD_JSON).read_bytes())
        return found if isinstance(found, dict) else None
    except (RegistryError, OSError, ValueError):
        return None


def never_yes(card: Mapping[str, Any] | None) -> list[str]:
    """Return the predicates that a card says are never a yes: no threshold keeps their bound."""
    bound = (card or {}).get("bound") or {}
    return [key for key, own in (bound.get("predicates") or {}).items() if own["abstains"]]


def marks(trained_on: dict[str, Any]) -> str:
    """Return what says that a version learned from nothing real; empty where it did."""
    return describe(trained_on.get("generated") or [])
