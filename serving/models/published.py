"""The published model, loaded from the registry."""

from __future__ import annotations

from birthmark.features.creates import from_requests
from birthmark.predictor import Kind, Point
from birthmark.predictor.allocation.verdicts import USUAL_ROOM, Room
from birthmark.serving.models.loaded import LoadedModel, Tallies
from birthmark.training.registry.published import read_published
from birthmark.training.registry.versions import Registry
from birthmark_native import SharedHistory


def load_model(
    registry: Registry,
    kind: Kind | None = None,
    point: Point | None = None,
    room: Room = USUAL_ROOM,
    *,
    counts: bool = False,
    tallies: Tallies | None = None,
    live: SharedHistory | None = None,
) -> LoadedModel:
    """Return the published model, its checksums verified, once it has answered a question.

    `kind` and `point` None take what the version was published to serve; its hints are for `room`;
    with `counts` what models learn on from is loaded, too. Answers are counted in `tallies`, and
    `live` tells them what was seen before. Raises as `read_published`, and ValueError or OSError
    for parts that are no model.
    """
    found = read_published(registry, kind, point)
    tallies = tallies or Tallies()
    model = LoadedModel(**vars(found), room=room, counts=counts, tallies=tallies, live=live)
    # A model that cannot answer must not take the place of one that can.
    model.answers(from_requests([{"name": b"name"}]), counted=False)
    return model
