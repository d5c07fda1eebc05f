"""One version of the models, as it answers: from compiled images, and the models when asked why."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa

from birthmark._native import Answerer, Tally
from predictor import Kind, Point
from predictor.hints import HINTS, USUAL_ROOM, Room, hint_image
from predictor.image import is_older
from predictor.image_models import compile_models
from predictor.images import hints_name, image_name
from predictor.trained import TrainedModel
from serving.hints import Hints, etag_of
from serving.shared import shared

log = logging.getLogger(__name__)


@dataclass
class Tallies:
    """How often each predicate, and each hint, was answered no and yes."""

    predictions: Tally = field(default_factory=Tally)
    hints: Tally = field(default_factory=Tally)


@dataclass(frozen=True)
class LoadedModel:
    """A published version: the `kind` of its models that answers, and at which point.

    Its hints are for a region with so much `room`. Predicates that are ``abstaining`` are always
    answered no, for the reasons given.
    """

    version: str
    kind: Kind
    point: Point
    manifest: Mapping[str, Any]
    directory: Path
    room: Room = USUAL_ROOM
    counts: bool = False
    abstaining: Mapping[str, str] = field(default_factory=dict)
    tallies: Tallies = field(default_factory=Tallies)

    @cached_property
    def trained(self) -> TrainedModel:
        """The models of the kind, which know why: loaded when they are first asked."""
        return TrainedModel.load(self.directory, self.counts, self.kind)

    @cached_property
    def answerer(self) -> Answerer:
        """What answers, from the image of all predicates."""
        stored = self._stored(image_name(self.kind, self.point))
        content = stored or compile_models(self.trained.of_kind(self.kind), self.point)
        return self._answerer(content, self.tallies.predictions)

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
        batches = creates.combine_chunks().to_batches() or [
            pa.RecordBatch.from_pylist([], creates.schema)
        ]
        columns = self.answerer.columns(batches[0], counted)
        return dict(zip(self.answerer.predicates, columns, strict=True))

    def _stored(self, name: str) -> bytes | None:
        """Return an image of the version, if it has it and readers of today take it."""
        if name not in self.manifest["parts"]:
            return None
        content = (self.directory / name).read_bytes()
        if is_older(content):
            log.info("model %s: %s is of an older format and made anew", self.version, name)
            return None
        return content

    def _answerer(self, content: bytes, tally: Tally) -> Answerer:
        image = pa.Array.from_buffers(pa.uint8(), len(content), [None, shared(content)])
        told = (self.version, self.kind, self.point)
        return Answerer(image, told, list(self.abstaining), tally)
