"""Suppressed predicates: an audit found their bound broken, so they abstain until the next model.

    <registry>/abstaining.json    {"version": V, "predicates": {KEY: reason}}

It is about one version: after another is published, nothing is suppressed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from birthmark.training.registry.versions import Registry, RegistryError

ABSTAINING = "abstaining.json"


@dataclass(frozen=True)
class Abstaining:
    """The `version`, and the reason by key of each suppressed predicate."""

    version: str | None = None
    predicates: Mapping[str, str] = field(default_factory=dict)

    def of(self, version: str) -> Mapping[str, str]:
        """Return the suppressed predicates of `version`, with reasons."""
        return self.predicates if version == self.version else {}


def read(registry: Registry) -> Abstaining:
    """Return the suppressed predicates of a registry; raise `RegistryError` for a damaged file."""
    content, path = registry.read(ABSTAINING), f"{registry.place}/{ABSTAINING}"
    if content is None:
        return Abstaining()
    try:
        stored: Any = json.loads(content)
    except ValueError as error:
        raise RegistryError(f"{path}: expected JSON: {error}") from error
    predicates = stored.get("predicates") if isinstance(stored, dict) else None
    if not isinstance(predicates, dict) or not isinstance(stored.get("version"), str):
        raise RegistryError(f"{path}: expected a version and its predicates with their reasons")
    return Abstaining(stored["version"], {key: str(reason) for key, reason in predicates.items()})


def add(registry: Registry, version: str, predicates: Mapping[str, str]) -> None:
    """Suppress more predicates of `version`; drop those of other versions."""
    if not predicates:
        return
    content = {"version": version, "predicates": {**read(registry).of(version), **predicates}}
    registry.write(ABSTAINING, (json.dumps(content, indent=1) + "\n").encode())
