"""Where the region lies: the geometry of a file system, and places named by what is there."""

from __future__ import annotations

import json
from dataclasses import dataclass

import birthmark_native
from birthmark.data.common.sizes import size

TABLES_END, MIDDLE, DATA = "tables-end", "middle", "data"
PLACES = f"{TABLES_END}, {MIDDLE} or {DATA}"
SHARE = 8
"""A place before the end of an inode table is one in so many of the region's bytes before it."""


Place = tuple[int, int]
"""The first byte of something, and how many it has."""


@dataclass(frozen=True)
class Geometry:
    """The sizes of a file system, by their names in FreeBSD's ``fs.h``; offsets in fragments."""

    fsize: int  # bytes of a fragment
    bsize: int  # bytes of a block
    fpg: int  # fragments per cylinder group
    groups: int
    iblkno: int  # where a group's inodes begin, from its start
    dblkno: int  # where its data begin: after its inodes
    ipg: int  # inodes per cylinder group
    inode_bytes: int

    def places(self, start: int, length: int, inodes: int) -> list[Place]:
        """Return the bytes of a region: of its group's first inodes, if it has these, and its own.

        Each is a first byte and a length.
        """
        group = self.fpg * self.fsize
        table = start // group * group + self.iblkno * self.fsize
        first = [(table, inodes * self.inode_bytes)] if inodes else []
        return [*first, (start, length)]


@dataclass(frozen=True)
class Region:
    """How much a region has."""

    inodes: int
    fragments: int  # for data

    @classmethod
    def of(cls, name: str, partition: int, start: int, length: int, inodes: int) -> Region:
        """Return that of a range of bytes of a partition, of a geometry's name.

        It has the first ``inodes`` of its group, or, if these are 0, those in its bytes.

        Raises:
            ValueError: it has neither inodes nor data, or parts of two cylinder groups, or ends
                beyond the last; or its inodes are more than a group has, or made after others.
        """
        found = birthmark_native.layout_region(name, partition, start, length, inodes)
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
    inode table and the rest data; or ``middle``: likewise in the group in the partition's middle;
    or ``data``: where the first group's data begin.

    Raises:
        ValueError: it is none of these.
    """
    if text == DATA:
        return sizes.dblkno * sizes.fsize
    if text not in (TABLES_END, MIDDLE):
        try:
            return size(text)
        except ValueError:
            raise ValueError(
                f"{text!r} is no place of a region: expected bytes, {PLACES}"
            ) from None
    group = sizes.groups // 2 if text == MIDDLE else 0
    base = group * sizes.fpg * sizes.fsize
    table = (sizes.dblkno - sizes.iblkno) * sizes.fsize
    before = min(length // SHARE, table) // sizes.bsize * sizes.bsize
    return base + sizes.dblkno * sizes.fsize - before


def first_inodes(length: int, ipg: int, inode_bytes: int) -> int:
    """Return how many of a group's first inodes suit ``length`` bytes of data.

    They are as many bytes as those, if the group has so many.
    """
    return min(ipg, length // inode_bytes)
