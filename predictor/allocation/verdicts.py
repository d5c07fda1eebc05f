"""What a file system's allocator is told of a create: hot name, hot directory, hot writes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.durations import HOUR
from birthmark.data.common.sizes import size
from birthmark.data.schema import filled
from birthmark.features import CREATES
from birthmark.predictor.allocation.hot_name import HOT_NAME
from birthmark.predictor.allocation.image_places import rules_of, tree_of
from birthmark.predictor.answers.point import Point
from birthmark.predictor.heat import Heat
from birthmark.predictor.image.format import Image, compile_image, predict
from birthmark.predictor.image.rules import RulesSection
from birthmark.predictor.image.trees import TreesSection
from birthmark.predictor.models.compile import sections_of
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.parameters import REGION
from birthmark.predictor.predicates.blocks import BLOCK
from birthmark_native import HINTS as DECLARED

HINTS = tuple(hint.key for hint in DECLARED)
"""The predicates of a hint image, in the order of a verdict's bits."""

OF_FILE, OF_DIRECTORY = (
    sum(hint.bit for hint in DECLARED if hint.of_directory is of_directory)
    for of_directory in (False, True)
)
"""The bits that a verdict on a file, and one on a directory, can have."""

LEAST_BIRTHS = 1.0
"""The least hot births to expect in a directory that HotDir names, in a period as long as the
one that was learned from."""

DIRECTORIES = 256
"""The most directories that a region has room for."""


@dataclass(frozen=True)
class Room:
    """How much a region is to hold of what was learned to be hot.

    ``directories`` count, of files the ``blocks`` of 4 KB.
    """

    directories: int
    blocks: int

    @classmethod
    def of(cls, data: int, fragment: int = 2048) -> Room:
        """Return the room of a region with ``data`` bytes for data; an eighth is kept in reserve.

        That is for files that grow more than was expected, and for HotName's that do have data.
        At most a third of the rest is for directories, of a ``fragment`` each (bytes), and there
        are 256 at most; what they leave is for what is written.
        """
        fragments = data // fragment * 7 // 8
        directories = min(DIRECTORIES, fragments // 3)
        return cls(directories, (fragments - directories) * fragment // BLOCK)


USUAL_ROOM = Room.of(size(REGION))
"""The room of a region as large as the thesis's, all of it for data."""


class Hinting(Protocol):
    """The parts of ``TrainedModel`` that hints are made of."""

    heat: Heat
    hints: dict[str, ModelSet[Any]]

    def of_kind(self, kind: str) -> ModelSet[Any]:
        """Return the models of ``kind``; raise ``ValueError`` where there are none."""


def hint_image(
    trained: Hinting,
    kind: str,
    point: Point,
    room: Room = USUAL_ROOM,
    abstaining: Collection[str] = (),
) -> bytes:
    """Return the image that kernels and the layout replay ask for hints: of the ``HINTS`` alone.

    HotName answers as the model of ``kind`` does at ``point`` that was trained for this, on what
    kernels know (``predictor.allocation.hot_name``). HotDir and HotWrite are yes for the
    directories and files of the highest ``predictor.heat.Places.scores`` for which there is
    ``room``: more than that would only take the room from what is hotter. So HotDir is of the
    directories with the most hot births, and not, as the predicate, of those with half. HotWrite is
    of fewer files than the predicate, and also of files that were there before the trace. Those
    ``abstaining`` are never a yes.

    Raises ``ValueError`` where HotName was not learned, where there are no models of ``kind``, and
    where an image has no room.
    """
    trained.of_kind(kind)  # refuses one that there is not
    if kind not in trained.hints:
        raise ValueError(f"the model has not learned {HOT_NAME}")
    asked = {HOT_NAME}.difference(abstaining)
    sections, abstained = sections_of(trained.hints[kind], point, asked)
    heat = trained.heat
    places = [
        ("HotDir", heat.hot_dirs, heat.hot_dirs.bar(room.directories, LEAST_BIRTHS)),
        ("HotWrite", heat.hot_writes, heat.hot_writes.bar(room.blocks, partly=True)),
    ]
    places = [place for place in places if place[0] not in abstaining]
    rules = RulesSection([rule for place in places for rule in rules_of(*place)])
    trees = TreesSection([tree_of(*place) for place in places])
    return compile_image(HINTS, [*sections, rules, trees], abstained.union(abstaining))


def verdicts(image: Image, asked: pa.Table) -> pa.Array:
    """Return for each row of ``asked`` the bits of its verdict (uint8).

    ``asked`` has the column ``directory``, whether it is one (boolean), and what is known of the
    creates, as in ``features.CREATES``; or in place of ``time`` its ``hour``, 0 to 23, UTC. Columns
    that it lacks are unknown. A directory has at most the bit of HotDir, anything else at most
    those of HotName and HotWrite.
    """
    answers = predict(image, _creates(asked))
    bits = [
        pc.multiply(answers[hint].cast(pa.uint8()), pa.scalar(1 << place, pa.uint8()))
        for place, hint in enumerate(HINTS)
        if hint in answers
    ]
    sides = (pa.scalar(bit, pa.uint8()) for bit in (OF_DIRECTORY, OF_FILE))
    asked_for = pc.if_else(asked["directory"], *sides).combine_chunks()
    return pc.bit_wise_and(reduce(pc.bit_wise_or, bits), asked_for)


def _creates(asked: pa.Table) -> pa.Table:
    if "hour" in asked.column_names:
        time = pc.multiply(asked["hour"].cast(pa.int64()), HOUR)
        asked = asked.append_column("time", time)
    return filled(asked, CREATES)
