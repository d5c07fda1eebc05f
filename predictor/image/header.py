"""The header of a compiled image: its version, checksum and operating point."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from birthmark.predictor.answers.point import ACCURATE, BOUNDED, Point
from birthmark_native import (
    BM_ACCURATE,
    BM_AT_CHECKSUM,
    BM_AT_POINT,
    BM_AT_VERSION,
    BM_BOUNDED,
    BM_MAGIC,
    BM_VERSION,
)

IMAGE, HINTS_IMAGE = "model.image", "hints.image"
"""The files of a saved model's images: of all predicates, and of hints for file systems."""

POINT_NUMBERS: Mapping[Point, int] = {ACCURATE: BM_ACCURATE, BOUNDED: BM_BOUNDED}
"""The numbers of the operating points in images."""

_CHECKED_FROM = BM_AT_CHECKSUM + 4


def at_point(image: bytes, point: Point) -> bytes:
    """Return an image whose lookups answer at ``point``."""
    content = bytearray(image)
    content[BM_AT_POINT : BM_AT_POINT + 4] = POINT_NUMBERS[point].to_bytes(4, "little")
    return sealed(content)


def sealed(content: bytearray) -> bytes:
    """Return an image with its checksum."""
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
