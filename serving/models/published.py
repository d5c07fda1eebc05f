"""The published model, loaded from the registry."""

from __future__ import annotations

from birthmark.features.creates import from_requests
from birthmark.predictor import Kind, Point
from birthmark.predictor.allocation.verdicts import USUAL_ROOM, RegionCapacity
from birthmark.serving.models.loaded import LoadedModel, Tallies
from birthmark.training.registry.published import read_published
from birthmark.training.registry.versions import Registry
from birthmark_native import SharedHistory


def load_model(
    registry: Registry,
    kind: Kind | None = None,
    point: Point | None = None,
    room: RegionCapacity = USUAL_ROOM,
    *,
    counts: bool = False,
    tallies: Tallies | None = None,
    live: SharedHistory | None = None,
) -> LoadedModel:
    """Return the published model, its checksums verified, after one test answer.

    `kind` and `point` default to the version's own. Its hints are for `room`. With `counts` the
    state for further training is loaded, too. Answers are counted in `tallies`; `live` is the live
    history. Raises as `read_published`, and ValueError or OSError for invalid parts.
    """
    published = read_published(registry, kind, point)
    tallies = tallies or Tallies()
    model = LoadedModel(**vars(published), room=room, counts=counts, tallies=tallies, live=live)
    # A model that cannot answer must not replace one that can.
    model.answers(from_requests([{"name": b"name"}]), counted=False)
    return model
