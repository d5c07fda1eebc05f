"""The published version of a registry, and its kind and operating point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from birthmark.predictor import Kind, Point
from birthmark.training.registry.manifests import base_version
from birthmark.training.registry.thresholds import MovedThreshold, MovedThresholds, read_registry
from birthmark.training.registry.versions import Registry, RegistryError


class NoModelError(ValueError):
    """The registry has no published version."""


@dataclass(frozen=True)
class Published:
    """The published version: the `kind` of model that answers, and its operating `point`.

    Its parts are in `directory`. `audited` has the thresholds moved by audits, if any.
    """

    version: str
    kind: Kind
    point: Point
    manifest: Mapping[str, Any]
    directory: Path
    audited: MovedThresholds | None = None

    @property
    def base(self) -> str:
        """The version that was trained: this one, or the one that it refreshes."""
        return base_version(self.version)

    @property
    def audited_rows(self) -> list[MovedThreshold]:
        """The audits' thresholds of this kind of model."""
        own = self.audited
        return own.thresholds if own is not None and own.kind == self.kind else []

    @property
    def abstaining(self) -> dict[str, MovedThreshold]:
        """The predicates that are never a yes by the outcomes in audits, with their counts."""
        return {row.predicate: row for row in self.audited_rows if row.abstains}


def read_published(
    registry: Registry, kind: Kind | None = None, point: Point | None = None
) -> Published:
    """Return the published version, its checksums verified.

    `kind` and `point` default to those in its manifest. Raises `NoModelError` if nothing is
    published, and `RegistryError` for a damaged version.
    """
    version = registry.current()
    if version is None:
        raise NoModelError(
            f"{registry.place}: expected a published model, found none (see birthmark train)"
        )
    registry.verify(version)
    manifest, moved = registry.manifest(version), read_registry(registry)
    return Published(
        version,
        kind or _manifest_choice(registry, manifest, "serve", get_args(Kind)),
        point or _manifest_choice(registry, manifest, "point", get_args(Point)),
        manifest,
        registry.directory(version),
        moved if moved is not None and moved.version == base_version(version) else None,
    )


def _manifest_choice(
    registry: Registry, manifest: Mapping[str, Any], what: str, choices: Sequence[str]
) -> Any:
    """Return the value of `what` in a manifest, which must be one of `choices`."""
    found = manifest.get(what)
    if found not in choices:
        directory = registry.directory(manifest["version"])
        expected = " or ".join(choices)
        raise RegistryError(f"{directory}: expected {what} to be {expected}, found {found!r}")
    return found
