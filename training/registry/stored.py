"""A verified and loaded version of a registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from birthmark.predictor import TrainedModel
from birthmark.training.registry.versions import Registry


@dataclass(frozen=True)
class Stored:
    """A verified and loaded version of a registry."""

    version: str
    manifest: Mapping[str, Any] = field(repr=False)
    model: TrainedModel


def load(registry: Registry, version: str | None = None, estimators: bool = False) -> Stored:
    """Verify and load `version`, or the published one; raise `RegistryError` if that fails.

    `estimators` also loads the user's estimators, which runs code from the registry.
    """
    version = version or registry.published()
    registry.verify(version)
    model = TrainedModel.load(registry.directory(version), estimators=estimators)
    return Stored(version, registry.manifest(version), model)


def load_published(registry: Registry) -> Stored | None:
    """Return the published version; None if there is none, or it cannot be loaded."""
    try:
        return None if registry.current() is None else load(registry)
    except (OSError, ValueError):
        return None
