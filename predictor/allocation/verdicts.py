"""Hints for a file system's allocator: hot name, hot directory, hot writes."""

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
from birthmark.predictor.answers.point import BOUNDED, Point
from birthmark.predictor.heat import Heat
from birthmark.predictor.image.cuts import NEVER, plain_predicate
from birthmark.predictor.image.format import Image, Scoring, always, compile_image, predict
from birthmark.predictor.image.rules import RulesSection
from birthmark.predictor.image.trees import TreesSection
from birthmark.predictor.models.compile import predicates_of, sections_of
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
"""The possible bits of a verdict on a file, and on a directory."""

LEAST_BIRTHS = 1.0
"""Least expected hot births in a HotDir directory, in a period as long as the training period."""

DIRECTORIES = 256
"""Greatest number of directories in a region."""


@dataclass(frozen=True)
class RegionCapacity:
    """Capacity of a region: a number of ``directories``, and ``blocks`` of 4 KB for files."""

    directories: int
    blocks: int

    @classmethod
    def of(cls, data: int, fragment: int = 2048) -> RegionCapacity:
        """Return the capacity of a region with ``data`` bytes for data.

        An eighth stays in reserve, for files that grow more than expected and for HotName files
        that do have data. At most a third of the rest is for directories, of one ``fragment``
        (bytes) each and ``DIRECTORIES`` at most; files get the remainder.
        """
        fragments = data // fragment * 7 // 8
        directories = min(DIRECTORIES, fragments // 3)
        return cls(directories, (fragments - directories) * fragment // BLOCK)


USUAL_ROOM = RegionCapacity.of(size(REGION))
"""The capacity of a region of the thesis's size, all of it for data."""


class Hinting(Protocol):
    """The parts of ``TrainedModel`` that hints need."""

    heat: Heat
    hints: dict[str, ModelSet[Any]]

    def of_kind(self, kind: str) -> ModelSet[Any]:
        """Return the models of ``kind``; raise ``ValueError`` where there are none."""


def hint_image(
    trained: Hinting,
    kind: str,
    point: Point = BOUNDED,
    room: RegionCapacity = USUAL_ROOM,
    abstaining: Collection[str] = (),
) -> bytes:
    """Return the image of the ``HINTS`` for kernels and the layout replay.

    HotName answers as the model of ``kind`` at ``point`` that was trained on the attributes that
    kernels know (``predictor.allocation.hot_name``). HotDir and HotWrite are yes for the
    directories and files of the highest ``predictor.heat.Places.scores`` that fit in ``room``:
    more would displace hotter ones. So HotDir holds for the directories with the most hot births,
    whereas the predicate holds for those with at least half. HotWrite holds for fewer files than
    the predicate, and also for files that existed before the trace. Hints ``abstaining`` are never
    a yes.

    Raises ``ValueError`` if HotName was not learned, there are no models of ``kind``, or the image
    exceeds its format.
    """
    trained.of_kind(kind)  # raises if there is none
    if kind not in trained.hints:
        raise ValueError(f"the model has not learned {HOT_NAME}")
    models, heat = trained.hints[kind], trained.heat
    sections = sections_of(models, {HOT_NAME}.difference(abstaining))
    places = [
        ("HotDir", heat.hot_dirs, heat.hot_dirs.bar(room.directories, LEAST_BIRTHS)),
        ("HotWrite", heat.hot_writes, heat.hot_writes.bar(room.blocks, partly=True)),
    ]
    places = [place for place in places if place[0] not in abstaining]
    rules = RulesSection([rule for place in places for rule in rules_of(*place)])
    trees = TreesSection([tree_of(*place) for place in places])
    keys = [key for key, *_ in places]
    sections += [Scoring(section, always(keys)) for section in (rules, trees)]
    predicates = [
        plain_predicate(key, 1 if key in keys else NEVER) for key in HINTS if key != HOT_NAME
    ]
    predicates += predicates_of(models, [HOT_NAME], abstaining)
    predicates.sort(key=lambda predicate: HINTS.index(predicate.key))
    return compile_image(predicates, sections, point=point)


def verdicts(image: Image, creates: pa.Table) -> pa.Array:
    """Return for each row of ``creates`` the bits of its verdict (uint8).

    ``creates`` has the boolean column ``directory``, and those of ``features.CREATES``; ``hour``
    (0 to 23, UTC) may replace ``time``. Missing columns are unknown. A directory has at most the
    bit of HotDir, anything else at most those of HotName and HotWrite.
    """
    answers = predict(image, _creates(creates))
    bits = [
        pc.multiply(answers[hint].cast(pa.uint8()), pa.scalar(1 << place, pa.uint8()))
        for place, hint in enumerate(HINTS)
        if hint in answers
    ]
    sides = (pa.scalar(bit, pa.uint8()) for bit in (OF_DIRECTORY, OF_FILE))
    possible = pc.if_else(creates["directory"], *sides).combine_chunks()
    return pc.bit_wise_and(reduce(pc.bit_wise_or, bits), possible)


def _creates(table: pa.Table) -> pa.Table:
    if "hour" in table.column_names:
        time = pc.multiply(table["hour"].cast(pa.int64()), HOUR)
        table = table.append_column("time", time)
    return filled(table, CREATES)
