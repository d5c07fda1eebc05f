"""The compiled image: models as one flat block of bytes for kernels.

``docs/image-format.md`` specifies the format. ``birthmark_native.Image`` and the C header
``layout_hint/include/birthmark.h`` read it. Equal models make equal bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.answers.point import BOUNDED, POINTS, Point
from birthmark.predictor.image.cuts import ImagePredicate, plain_predicate
from birthmark.predictor.image.header import POINT_NUMBERS, at_point, checksum, is_older, sealed
from birthmark.predictor.predicates.assignments import Assignments
from birthmark_native import (
    BM_GROUPS_MAX,
    BM_HEADER_SIZE,
    BM_MAGIC,
    BM_PREDICATE_ENTRY,
    BM_PREDICATES_MAX,
    BM_SECTION_ENTRY,
    BM_SECTIONS_MAX,
    BM_STEPS_MAX,
    BM_VERSION,
    Image,
)

__all__ = ["Image", "Section", "Writer", "always", "at_point", "checksum", "compile_image"]
__all__ += ["is_older", "plain_image", "predict"]

_LONGEST = 2**16 - 1
_LARGEST = 2**32 - 1


class Writer:
    """A block of bytes to which arrays are added; offsets count from its beginning.

    ``steps`` is the greatest number of steps of a lookup; callers add those of their content.
    """

    def __init__(self) -> None:
        self.content = bytearray()
        self.steps = 0

    def put(self, data: bytes, align: int = 4) -> int:
        """Add ``data`` at the next multiple of ``align``; return its offset."""
        self.content += bytes(-len(self.content) % align)
        offset = len(self.content)
        self.content += data
        return offset

    def put_u32(self, numbers: npt.ArrayLike, align: int = 4) -> int:
        """Add numbers of 4 bytes each, row by row."""
        return self.put(np.asarray(numbers, dtype="<u4").tobytes(), align)


class Section(Protocol):
    """A part of an image that gives scores to some of its predicates."""

    kind: ClassVar[int]

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section and its steps, and return the offset of its head.

        ``places`` are the predicates' numbers by key.
        """


Counts = Sequence[Mapping[Point, Collection[str]]]
"""By point, for each of ``HISTORY_SCOPES``, the keys for which a section's scores count."""


@dataclass(frozen=True)
class Scoring:
    """A ``section``, and the keys for which its scores count."""

    section: Section
    counts: Counts

    def write(self, writer: Writer, places: Mapping[str, int]) -> tuple[int, int, int, int]:
        """Add the section; return its row of the directory."""
        offset = self.section.write(writer, places)
        size = 8 * -(-len(places) // 64)
        keys = [by_point.get(point, ()) for by_point in self.counts for point in POINTS]
        masks = [sum(1 << places[key] for key in own) for own in keys]
        table = b"".join(mask.to_bytes(size, "little") for mask in masks)
        writer.steps += 1
        return self.section.kind, offset, writer.put(table, 8), 0


def always(keys: Collection[str]) -> Counts:
    """Return keys for which scores count at both points and all history scopes."""
    return [dict.fromkeys(POINTS, keys)] * len(HISTORY_SCOPES)


def compile_image(
    predicates: Sequence[ImagePredicate],
    sections: Sequence[Scoring],
    groups: Sequence[Assignments] = (),
    point: Point = BOUNDED,
) -> bytes:
    """Return the image of ``predicates``, in the order of the answers' bits.

    A predicate's score is the greatest of the sections that count. ``groups`` of related
    predicates make answers consistent. A lookup answers at ``point``. Raises ``ValueError`` if a
    limit of the format is exceeded.
    """
    keys = [predicate.key for predicate in predicates]
    _check(keys, sections, groups)
    writer = Writer()
    directory_end = BM_HEADER_SIZE + BM_SECTION_ENTRY * len(sections)
    writer.put(bytes(directory_end))
    texts = [writer.put(key.encode(), 1) for key in keys]
    rows = b"".join(p.row(writer, text) for p, text in zip(predicates, texts, strict=True))
    assert len(rows) == BM_PREDICATE_ENTRY * len(keys)
    table = writer.put(rows, 4)
    places = {key: place for place, key in enumerate(keys)}
    related = writer.put_u32([_group(writer, group, places) for group in groups])
    directory = [section.write(writer, places) for section in sections]
    writer.steps += len(keys)
    content = writer.content
    if len(content) > _LARGEST:
        raise ValueError(f"the image would have {len(content)} bytes: at most {_LARGEST} fit")
    if writer.steps > BM_STEPS_MAX:
        raise ValueError(
            f"a lookup would take {writer.steps} steps: an image has at most {BM_STEPS_MAX}"
        )
    content[BM_HEADER_SIZE:directory_end] = np.asarray(directory, dtype="<u4").tobytes()
    head = [BM_VERSION, len(content), 0, len(keys), table, len(sections), writer.steps]
    head += [POINT_NUMBERS[point], len(groups), related]
    content[:BM_HEADER_SIZE] = BM_MAGIC + np.asarray(head, dtype="<u4").tobytes()
    return sealed(content)


def plain_image(keys: Sequence[str], sections: Sequence[Section], cut: int = 1) -> bytes:
    """Return an image in which a score from ``cut`` on is a yes, at both points.

    The sections count for all predicates at all history scopes. Raises as ``compile_image``.
    """
    predicates = [plain_predicate(key, cut) for key in keys]
    return compile_image(predicates, [Scoring(section, always(keys)) for section in sections])


def _group(writer: Writer, group: Assignments, places: Mapping[str, int]) -> tuple[int, ...]:
    """Add a group of related predicates; return its row."""
    keys = sorted(group, key=places.__getitem__)
    count = len(group[keys[0]])
    size = 8 * -(-count // 64)
    members = np.array([places[key] for key in keys], dtype="<u2").tobytes()
    masks = [sum(1 << number for number, holds in enumerate(group[key]) if holds) for key in keys]
    bits = b"".join(mask.to_bytes(size, "little") for mask in masks)
    return len(keys), writer.put(members), count, writer.put(bits, 8)


def predict(image: Image, creates: pa.Table) -> dict[str, pa.BooleanArray]:
    """Return by key every predicate's answer for each row of ``creates`` (``features.CREATES``).

    Raises ``ValueError``, naming the column, if one that the image uses is missing or has another
    type.
    """
    columns = [
        column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        for column in creates.columns
    ]
    plain = pa.table(columns, names=creates.column_names).combine_chunks()
    batches = plain.to_batches() or [pa.RecordBatch.from_pylist([], plain.schema)]
    parts = [image.predict(batch) for batch in batches]
    answers = zip(*parts, strict=True)
    return {
        key: pa.concat_arrays(chunks) for key, chunks in zip(image.predicates, answers, strict=True)
    }


def _check(keys: Sequence[str], sections: Sequence[Scoring], groups: Sequence[Assignments]) -> None:
    if not 1 <= len(keys) <= BM_PREDICATES_MAX:
        raise ValueError(f"an image has 1 to {BM_PREDICATES_MAX} predicates, not {len(keys)}")
    if len(set(keys)) < len(keys):
        raise ValueError("two predicates have the same key")
    if max(len(key.encode()) for key in keys) > _LONGEST:
        raise ValueError(f"the key of a predicate is longer than {_LONGEST} bytes")
    if len(sections) > BM_SECTIONS_MAX:
        raise ValueError(f"an image has at most {BM_SECTIONS_MAX} sections, not {len(sections)}")
    if len(groups) > BM_GROUPS_MAX:
        raise ValueError(f"an image has at most {BM_GROUPS_MAX} groups, not {len(groups)}")
