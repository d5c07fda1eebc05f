"""The published version, loaded: answers from compiled images, explanations from the models."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bytes
from birthmark.features.creates import from_requests
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope, history_scopes
from birthmark.predictor import Kind, Point
from birthmark.predictor.allocation.verdicts import USUAL_ROOM, RegionCapacity, hint_image
from birthmark.predictor.answers import certainty
from birthmark.predictor.image.header import IMAGE
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.trained import TrainedModel, read_description
from birthmark.serving.models.images import ImageModel, Tallies, put_in_force
from birthmark.training.registry import thresholds
from birthmark.training.registry.published import read_published
from birthmark.training.registry.thresholds import MovedThreshold, MovedThresholds
from birthmark.training.registry.versions import Registry
from birthmark_native import SharedHistory

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class LoadedModel(ImageModel):
    """A published version with its models; its hints are for a region of capacity `room`."""

    room: RegionCapacity = USUAL_ROOM
    counts: bool = False
    moved_thresholds: dict[tuple[str, HistoryScope], MovedThreshold] = field(default_factory=dict)
    """The thresholds in force that outcomes have moved."""

    def __post_init__(self) -> None:
        """Begin with the audits' thresholds."""
        self._replace(self.audited_rows)

    def apply_thresholds(self, moved: MovedThresholds | None) -> None:
        """Put a follower's thresholds in force, and for all others the audits'."""
        self._replace([*self.audited_rows, *(moved.thresholds if moved else [])])
        put_in_force(self.answerer, self.moved_thresholds.values())

    def follow(self, before: LoadedModel) -> None:
        """Keep the thresholds in force if this is another refresh of the model before.

        Their sums stay the same: a refresh changes neither unit nor base of a forest. The same
        version is loaded again when audits moved thresholds: these are in force then.
        """
        if self.version != before.version and (self.base, self.kind, self.point) == (
            before.base,
            before.kind,
            before.point,
        ):
            self._replace(before.moved_thresholds.values())
            put_in_force(self.answerer, self.moved_thresholds.values())

    def _replace(self, rows: Iterable[MovedThreshold]) -> None:
        self.moved_thresholds.clear()
        self.moved_thresholds.update({(row.predicate, row.told): row for row in rows})

    def fits(self, moved: MovedThresholds) -> bool:
        """Return whether thresholds are for this version, refreshed or not, and kind."""
        return (moved.version, moved.kind) == (self.base, self.kind)

    def check(self, moved: MovedThresholds) -> None:
        """Raise `InvalidThresholdsError` for thresholds that this version cannot have."""
        thresholds.check(moved, self.answerer.calibrated(), self.bound)

    @cached_property
    def bound(self) -> float:
        """The bound on the share of false positives that the version was trained for."""
        return float(self._description["parameters"]["bound"])

    @cached_property
    def _description(self) -> Mapping[str, Any]:
        return read_description(self.directory)

    @cached_property
    def trained(self) -> TrainedModel:
        """The models of the kind, for explanations; loaded on first use."""
        return TrainedModel.load(self.directory, self.counts, self.kind)

    def _image(self) -> bytes:
        if (content := self._stored(IMAGE)) is not None:
            return content
        models, assignments = self.trained.of_kind(self.kind), self.trained.assignments
        return compile_models(models, self.point, assignments)

    def _hint_image(self) -> bytes | None:
        if (content := self._stored_hints()) is not None:
            return content
        try:
            return hint_image(
                self.trained, self.kind, self.point, self.room, self._abstaining_hints
            )
        except ValueError as error:
            log.warning("model %s gives no hints: %s", self.version, error)
            return None

    def answers(self, creates: pa.Table) -> dict[str, pa.BooleanArray]:
        """Return by key every predicate's answer for each row of ``features.CREATES``."""
        columns = self.answerer.columns(_batch(creates))
        return dict(zip(self.answerer.predicates, columns, strict=True))

    def three_way_answers(self, creates: pa.Table) -> dict[str, certainty.ThreeWayAnswer]:
        """Return by key the answer, with its probability, for each row of ``features.CREATES``."""
        columns = zip(
            self.answerer.predicates, *self.answerer.three_way_answers(_batch(creates)), strict=True
        )
        return {key: certainty.ThreeWayAnswer(words, likely) for key, words, likely in columns}

    def scopes_used(self, creates: pa.Table) -> Bytes:
        """Return the history scope that each row's answer uses, as an index of `HISTORY_SCOPES`.

        It is ``nothing`` where no kind that answers uses histories.
        """
        scopes = history_scopes(creates)
        nothing = HISTORY_SCOPES.index("nothing")
        return np.where(np.array(self._knows_history)[scopes], scopes, nothing)


def _batch(table: pa.Table) -> pa.RecordBatch:
    """Return a table as one batch, even if it is empty."""
    batches = table.combine_chunks().to_batches()
    return batches[0] if batches else pa.RecordBatch.from_pylist([], table.schema)


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
    model = LoadedModel(
        **vars(published),
        tallies=tallies,
        live=live,
        has_usual_region=room == USUAL_ROOM,
        room=room,
        counts=counts,
    )
    # A model that cannot answer must not replace one that can.
    model.answers(from_requests([{"name": b"name"}]))
    return model
