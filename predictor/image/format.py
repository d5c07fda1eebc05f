"""The compiled image: models as one flat block of bytes for kernels.

``docs/image-format.md`` specifies the format. ``birthmark_native.Image`` and the C header
``layout_hint/include/birthmark.h`` read it. Equal models make equal bytes.
"""

from __future__ import annotations

import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from birthmark_native import (
    BM_AT_CHECKSUM,
    BM_AT_VERSION,
    BM_HEADER_SIZE,
    BM_MAGIC,
    BM_PREDICATES_MAX,
    BM_SECTION_ENTRY,
    BM_SECTION_SCOPED,
    BM_SECTIONS_MAX,
    BM_STEPS_MAX,
    BM_VERSION,
    Image,
)

__all__ = ["Image", "Section", "Writer", "checksum", "compile_image", "is_older", "predict"]

_LONGEST = 2**16 - 1
_LARGEST = 2**32 - 1
_CHECKED_FROM = BM_AT_CHECKSUM + 4


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
    """A part of an image that answers some of its predicates."""

    kind: ClassVar[int]

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section and its steps, and return the offset of its head.

        ``places`` are the predicates' numbers by key.
        """


def compile_image(
    predicates: Sequence[str], sections: Sequence[Section], abstained: Collection[str] = ()
) -> bytes:
    """Return the image whose answers are those of any of ``sections``.

    ``predicates`` are the keys in the order of the answers' bits. ``abstained`` marks some of them;
    the sections ensure that these are never a yes. Raises ``ValueError`` if a limit of the format
    is exceeded.
    """
    _check(predicates, sections)
    writer = Writer()
    room = BM_HEADER_SIZE + BM_SECTION_ENTRY * len(sections)
    writer.put(bytes(room))
    keys = [key.encode() for key in predicates]
    marks = [
        (writer.put(key, 1), len(key) | (name in abstained) << 16)
        for key, name in zip(keys, predicates, strict=True)
    ]
    table = writer.put_u32(marks)
    places = {key: place for place, key in enumerate(predicates)}
    directory = [(section.kind, section.write(writer, places)) for section in sections]
    content = writer.content
    if len(content) > _LARGEST:
        raise ValueError(f"the image would have {len(content)} bytes: at most {_LARGEST} fit")
    if writer.steps > BM_STEPS_MAX:
        raise ValueError(
            f"a lookup would take {writer.steps} steps: an image has at most {BM_STEPS_MAX}"
        )
    content[BM_HEADER_SIZE:room] = np.asarray(directory, dtype="<u4").tobytes()
    head = [BM_VERSION, len(content), 0, len(keys), table, len(sections), writer.steps, 0]
    content[:BM_HEADER_SIZE] = BM_MAGIC + np.asarray(head, dtype="<u4").tobytes()
    check = zlib.crc32(content[_CHECKED_FROM:], zlib.crc32(content[:BM_AT_CHECKSUM]))
    content[BM_AT_CHECKSUM:_CHECKED_FROM] = check.to_bytes(4, "little")
    return bytes(content)


def checksum(content: bytes) -> int:
    """Return the checksum that an image carries."""
    return int.from_bytes(content[BM_AT_CHECKSUM:_CHECKED_FROM], "little")


def is_older(content: bytes) -> bool:
    """Return whether an image is of an earlier version, which readers refuse."""
    version = int.from_bytes(content[BM_AT_VERSION : BM_AT_VERSION + 4], "little")
    return content.startswith(BM_MAGIC) and 0 < version < BM_VERSION


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


def _check(predicates: Sequence[str], sections: Sequence[Section]) -> None:
    if not 1 <= len(predicates) <= BM_PREDICATES_MAX:
        raise ValueError(f"an image has 1 to {BM_PREDICATES_MAX} predicates, not {len(predicates)}")
    if len(set(predicates)) < len(predicates):
        raise ValueError("two predicates have the same key")
    if max(len(key.encode()) for key in predicates) > _LONGEST:
        raise ValueError(f"the key of a predicate is longer than {_LONGEST} bytes")
    if len(sections) > BM_SECTIONS_MAX:
        raise ValueError(f"an image has at most {BM_SECTIONS_MAX} sections, not {len(sections)}")


@dataclass(frozen=True)
class ScopedSection:
    """Rules or trees, and the predicates for which they answer.

    ``answered`` has their keys for each of ``features.history_scope.HISTORY_SCOPES``.
    """

    section: Section
    answered: Sequence[Collection[str]]

    kind: ClassVar[int] = BM_SECTION_SCOPED

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section; see ``Section``."""
        offset = self.section.write(writer, places)
        size = 8 * -(-len(places) // 64)
        masks = [sum(1 << places[key] for key in keys) for keys in self.answered]
        table = b"".join(mask.to_bytes(size, "little") for mask in masks)
        writer.steps += 1
        return writer.put_u32([self.section.kind, offset, writer.put(table, 8), 0], 8)
