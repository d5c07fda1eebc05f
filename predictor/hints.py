"""What a file system's allocator is told of a create: hot name, hot directory, hot writes."""

from __future__ import annotations

from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from features import CREATES
from predictor.image import Image, compile_image, predict
from predictor.image_models import sections_of
from predictor.model_set import Kind
from predictor.thresholds import Point
from predictor.trained import TrainedModel

HINTS = ("HotName", "HotDir", "HotWrite")
"""The predicates of a hint image, in the order of a verdict's bits: 1, 2 and 4."""

OF_FILE, OF_DIRECTORY = 0b101, 0b010
"""The bits that a verdict on a file, and one on a directory, can have."""

_OF_FILES = ("HotName", "HotWrite")
_HOUR = 3_600_000_000


def hint_image(trained: TrainedModel, kind: Kind, point: Point) -> bytes:
    """Return the image that kernels and the layout replay are hinted by: the ``HINTS`` alone.

    HotName and HotWrite answer as the models of ``kind`` do at ``point``. Raises ``ValueError``
    where the model has not learned one of the two, where there are no models of ``kind``, and
    where an image has no room.
    """
    missing = sorted(set(_OF_FILES) - set(trained.predicates))
    if missing:
        raise ValueError(f"the model has not learned {missing[0]}: train it with the predicates")
    sections, abstained = sections_of(trained.of_kind(kind), point, _OF_FILES)
    return compile_image(HINTS, sections, {*abstained, "HotDir"})


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
    columns = {name: asked[name] for name in asked.column_names}
    if "hour" in columns:
        columns["time"] = pc.multiply(columns["hour"].cast(pa.int64()), _HOUR)
    unknown = pa.nulls(len(asked))
    return pa.table([columns.get(f.name, unknown).cast(f.type) for f in CREATES], schema=CREATES)
