"""Where the region lies: the geometry of a file system, and places named by what is there."""

from __future__ import annotations

import json
from dataclasses import dataclass

import birthmark_native
from birthmark.data.common.sizes import size

TABLES_END, MIDDLE = "tables-end", "middle"
SHARE = 8
"""A place before the end of an inode table is one in so many of the region's bytes before it."""


@dataclass(frozen=True)
class Geometry:
    """The sizes of a file system, by their names in FreeBSD's ``fs.h``; offsets in fragments."""

    fsize: int  # bytes of a fragment
    bsize: int  # bytes of a block
    fpg: int  # fragments per cylinder group
    groups: int
    iblkno: int  # where a group's inodes begin, from its start
    dblkno: int  # where its data begin: after its inodes


@dataclass(frozen=True)
class Region:
    """How much a region has."""

    inodes: int
    fragments: int  # for data

    @classmethod
    def of(cls, name: str, partition: int, start: int, length: int) -> Region:
        """Return that of a range of bytes of a partition, of a geometry's name.

        Raises:
            ValueError: it has neither, or parts of two cylinder groups, or ends beyond the last.
        """
        found = birthmark_native.layout_region(name, partition, start, length)
        return cls(*(end - first for first, end in found))


def geometry(name: str, partition: int) -> Geometry:
    """Return the sizes that ``newfs`` takes for a partition of so many bytes.

    Raises:
        ValueError: no such geometry, or the partition is too small.
    """
    found = json.loads(birthmark_native.layout_geometry(name, partition))
    return Geometry(**{field: found[field] for field in Geometry.__dataclass_fields__})


def region_start(text: str, length: int, sizes: Geometry) -> int:
    """Return the first byte of a region of ``length`` bytes.

    ``text`` is a size; or ``tables-end``: so that an eighth of it is the end of the first group's
    inode table and the rest data; or ``middle``: likewise in the group in the partition's middle.

    Raises:
        ValueError: it is none of these.
    """
    if text not in (TABLES_END, MIDDLE):
        try:
            return size(text)
        except ValueError:
            raise ValueError(
                f"{text!r} is no place of a region: expected bytes, {TABLES_END} or {MIDDLE}"
            ) from None
    group = sizes.groups // 2 if text == MIDDLE else 0
    base = group * sizes.fpg * sizes.fsize
    table = (sizes.dblkno - sizes.iblkno) * sizes.fsize
    before = min(length // SHARE, table) // sizes.bsize * sizes.bsize
    return base + sizes.dblkno * sizes.fsize - before
