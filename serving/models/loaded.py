"""One version of the models, as it answers: from compiled images, and the models when asked why."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, takewhile

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bytes
from birthmark.features.told import TOLD, Told, told_of
from birthmark.predictor.allocation.verdicts import HINTS, USUAL_ROOM, Room, hint_image
from birthmark.predictor.answers import certainty
from birthmark.predictor.image.format import Image, is_older
from birthmark.predictor.models.compile import compile_levels, compile_models
from birthmark.predictor.models.kinds import BEST, KINDS
from birthmark.predictor.saved_images import certainty_name, hints_name, image_name, levels_name
from birthmark.predictor.trained import TrainedModel
from birthmark.serving.models.hint_image import Hints, etag_of
from birthmark.serving.models.shared_images import shared
from birthmark.training.control.thresholds import MovedThreshold, MovedThresholds
from birthmark.training.registry.published import Published
from birthmark_native import Answerer, SharedHistory, Tally

log = logging.getLogger(__name__)


@dataclass
class Tallies:
    """How often each predicate, and each hint, was answered no and yes.

    ``told``: how many answers rested on something else than each word of ``features.TOLD``, and
    how many on it.
    """

    predictions: Tally = field(default_factory=Tally)
    hints: Tally = field(default_factory=Tally)
    told: Tally = field(default_factory=Tally)


@dataclass(frozen=True)
class LoadedModel(Published):
    """A published version that answers; its hints are for a region with so much `room`.

    `live` tells what was seen before a create whose asker does not tell it.
    """

    room: Room = USUAL_ROOM
    counts: bool = False
    tallies: Tallies = field(default_factory=Tallies)
    live: SharedHistory | None = None
    moved: dict[tuple[str, Told], MovedThreshold] = field(default_factory=dict)
    """The thresholds in force that are not as calibrated."""

    def obey(self, moved: MovedThresholds | None) -> None:
        """Put thresholds in force in place of all that were; None: those of calibration."""
        rows = [] if moved is None else moved.thresholds
        self.moved.clear()
        self.moved.update({(row.predicate, row.told): row for row in rows})
        self.answerer.set_thresholds(
            [
                (row.predicate, TOLD.index(row.told), row.sum, row.regained)
                for row in self.moved.values()
            ]
        )

    @cached_property
    def trained(self) -> TrainedModel:
        """The models of the kind, which know why: loaded when they are first asked."""
        return TrainedModel.load(self.directory, self.counts, self.kind)

    @cached_property
    def answerer(self) -> Answerer:
        """What answers, from the image of all predicates."""
        stored = self._stored(image_name(self.kind, self.point))
        content = stored or compile_models(self.trained.of_kind(self.kind), self.point)
        return self._answerer(content, self.tallies.predictions, *self._levels(content))

    def _levels(self, content: bytes) -> tuple[list[str], list[bytes]]:
        """Return what says how sure the answers of an image are, and the images that it is of."""
        described = self._part(certainty_name(self.kind, self.point))
        parts = (levels_name(self.kind, self.point, number) for number in count())
        stored = [self._stored(name) for name in takewhile(self._has, parts)]
        if not described or not stored:  # of a version published before there were any
            return [certainty.plainly(Image(content).predicates)], []
        levels = [image for image in stored if image is not None]
        if len(levels) < len(stored):
            levels = compile_levels(self.trained.of_kind(self.kind).at(self.point))
        return [json.dumps(each) for each in json.loads(described)], levels

    @cached_property
    def hints(self) -> Hints | None:
        """What it hints to file systems; None where it has not learned to."""
        abstaining = self.abstaining.keys() & HINTS
        usual = self.room == USUAL_ROOM and not abstaining
        content = self._stored(hints_name(self.kind, self.point)) if usual else None
        try:
            if content is None:
                content = hint_image(self.trained, self.kind, self.point, self.room, abstaining)
        except ValueError as error:
            log.warning("model %s gives no hints: %s", self.version, error)
            return None
        etag = etag_of(self.version, content)
        return Hints(content, self._answerer(content, self.tallies.hints), etag)

    def answers(self, creates: pa.Table, counted: bool = True) -> dict[str, pa.BooleanArray]:
        """Return by key every predicate's answer for each row of ``features.CREATES``.

        If ``counted``, they are answers given.
        """
        columns = self.answerer.columns(_batch(creates), counted)
        return dict(zip(self.answerer.predicates, columns, strict=True))

    def said(self, creates: pa.Table) -> dict[str, certainty.Said]:
        """Return by key what is said of each row of ``features.CREATES``, and how likely it is."""
        said = self.answerer.said(_batch(creates))
        columns = zip(self.answerer.predicates, *said, strict=True)
        return {key: certainty.Said(words, likely) for key, words, likely in columns}

    def told(self, creates: pa.Table) -> Bytes:
        """Return for each row what its answer rests on: the place in ``features.TOLD``.

        It is nothing where the kinds that answer know no histories.
        """
        told = told_of(creates)
        return np.where(np.array(self._knows_history)[told], told, TOLD.index("nothing"))

    @property
    def _knows_history(self) -> list[bool]:
        """Whether any kind that answers knows histories, for each of ``features.told.TOLD``."""
        if self.kind == BEST:
            chosen = list(self.manifest["kinds"][self.point].values())
        else:
            chosen = [dict.fromkeys(TOLD, self.kind)]
        return [any(KINDS[choice[told]].knows_history for choice in chosen) for told in TOLD]

    def _stored(self, name: str) -> bytes | None:
        """Return an image of the version, if it has it and readers of today take it."""
        content = self._part(name)
        if content is not None and is_older(content):
            log.info("model %s: %s is of an older format and made anew", self.version, name)
            return None
        return content

    def _part(self, name: str) -> bytes | None:
        return (self.directory / name).read_bytes() if self._has(name) else None

    def _has(self, name: str) -> bool:
        return name in self.manifest["parts"]

    def _answerer(
        self,
        content: bytes,
        tally: Tally,
        described: Sequence[str] = (),
        levels: Sequence[bytes] = (),
    ) -> Answerer:
        told = (self.version, self.kind, self.point)
        images = [_array(level) for level in levels]
        return Answerer(
            _array(content),
            told,
            list(self.abstaining),
            (tally, self.tallies.told),
            list(described),
            images,
            self.live,
            self._knows_history,
        )


def _batch(table: pa.Table) -> pa.RecordBatch:
    """Return a table as the one batch that it is, which an empty one has not."""
    whole = table.combine_chunks().to_batches()
    return whole[0] if whole else pa.RecordBatch.from_pylist([], table.schema)


def _array(content: bytes) -> pa.UInt8Array:
    return pa.Array.from_buffers(pa.uint8(), len(content), [None, shared(content)])
