"""The published model, loaded from the registry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from birthmark.features.creates import from_requests
from birthmark.predictor import Kind, Point
from birthmark.predictor.allocation.verdicts import USUAL_ROOM, Room
from birthmark.serving.loaded import LoadedModel, Tallies
from birthmark.training.abstaining import read as read_abstaining
from birthmark.training.registry import Registry, RegistryError


class NoModelError(ValueError):
    """Nothing was ever published in the registry."""


def load_model(
    registry: Registry,
    kind: Kind | None = None,
    point: Point | None = None,
    room: Room = USUAL_ROOM,
    *,
    counts: bool = False,
    tallies: Tallies | None = None,
) -> LoadedModel:
    """Return the published model, its checksums verified, once it has answered a question.

    `kind` and `point` None take what the version was published to serve; its hints are for `room`;
    with `counts` what models learn on from is loaded, too. Answers are counted in `tallies`. Raises
    `NoModelError` where nothing is published, `RegistryError` for a damaged version, and ValueError
    or OSError for parts that are no model.
    """
    version = registry.current()
    if version is None:
        raise NoModelError(
            f"{registry.place}: expected a published model, found none (see birthmark train)"
        )
    registry.verify(version)
    manifest = registry.manifest(version)
    kind = kind or _published(registry, manifest, "serve", get_args(Kind))
    point = point or _published(registry, manifest, "point", get_args(Point))
    abstaining = read_abstaining(registry).of(version)
    directory = registry.directory(version)
    tallies = tallies or Tallies()
    model = LoadedModel(
        version, kind, point, manifest, directory, room, counts, abstaining, tallies
    )
    # A model that cannot answer must not take the place of one that can.
    model.answers(from_requests([{"name": b"name"}]), counted=False)
    return model


def _published(
    registry: Registry, manifest: Mapping[str, Any], what: str, choices: Sequence[str]
) -> Any:
    found = manifest.get(what)
    if found not in choices:
        directory = registry.directory(manifest["version"])
        expected = " or ".join(choices)
        raise RegistryError(f"{directory}: expected {what} to be {expected}, found {found!r}")
    return found
