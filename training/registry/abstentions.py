"""Predicates whose bound an audit found broken: never answered yes until the next model.

    <registry>/abstaining.json    {"version": V, "predicates": {KEY: the reason in words}}

It is about one version: another that is published abstains from nothing.
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
    """The `version` that is meant, and by key of its predicates the reason for each."""

    version: str | None = None
    predicates: Mapping[str, str] = field(default_factory=dict)

    def of(self, version: str) -> Mapping[str, str]:
        """Return the predicates that `version` must never say yes to, and why."""
        return self.predicates if version == self.version else {}


def read(registry: Registry) -> Abstaining:
    """Return what is said in a registry; raise `RegistryError` if it is damaged."""
    content, path = registry.read(ABSTAINING), f"{registry.place}/{ABSTAINING}"
    if content is None:
        return Abstaining()
    try:
        said: Any = json.loads(content)
    except ValueError as error:
        raise RegistryError(f"{path}: expected JSON: {error}") from error
    predicates = said.get("predicates") if isinstance(said, dict) else None
    if not isinstance(predicates, dict) or not isinstance(said.get("version"), str):
        raise RegistryError(f"{path}: expected a version and its predicates with their reasons")
    return Abstaining(said["version"], {key: str(reason) for key, reason in predicates.items()})


def add(registry: Registry, version: str, predicates: Mapping[str, str]) -> None:
    """Let more predicates of `version` never be a yes; those of other versions are forgotten."""
    if not predicates:
        return
    said = {"version": version, "predicates": {**read(registry).of(version), **predicates}}
    registry.write(ABSTAINING, (json.dumps(said, indent=1) + "\n").encode())
