"""Position of the region: the geometry of a file system, and named places."""

from __future__ import annotations

import json
from dataclasses import dataclass

import birthmark.layout_hint.native as native
from birthmark.data.common.sizes import size

TABLES_END, MIDDLE, DATA = "tables-end", "middle", "data"
PLACES = f"{TABLES_END}, {MIDDLE} or {DATA}"
SHARE = 8
"""One part in this many of the region lies before the end of an inode table."""


Place = tuple[int, int]
"""First byte and length."""


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
    free: int  # where the free data of the file system begin: behind its journal

    def places(self, start: int, length: int, inodes: int) -> list[Place]:
        """Return the bytes of a region: its group's first inodes, if it has these, and its own.

        Each is a first byte and a length.
        """
        group = self.fpg * self.fsize
        table = start // group * group + self.iblkno * self.fsize
        first = [(table, inodes * self.inode_bytes)] if inodes else []
        return [*first, (start, length)]


@dataclass(frozen=True)
class Region:
    """Size of a region."""

    inodes: int
    fragments: int  # for data

    @classmethod
    def of(cls, name: str, partition: int, start: int, length: int, inodes: int) -> Region:
        """Return the region of a range of bytes of a partition with a named geometry.

        It has the first ``inodes`` of its group, or, if these are 0, those in its bytes.

        Raises:
            ValueError: it has neither inodes nor data, or parts of two cylinder groups, or ends
            beyond the last; or its inodes exceed a group, or are initialized after others.
        """
        found = native.layout_region(name, partition, start, length, inodes)
        return cls(*(end - first for first, end in found))


def geometry(name: str, partition: int, journal: bool = False) -> Geometry:
    """Return the sizes that ``newfs`` chooses for a partition.

    Raises:
        ValueError: no such geometry, the partition is too small, or the kernel has no journal.
    """
    found = json.loads(native.layout_geometry(name, partition, journal))
    return Geometry(**{field: found[field] for field in Geometry.__dataclass_fields__})


def region_start(text: str, length: int, sizes: Geometry) -> int:
    """Return the first byte of a region of ``length`` bytes.

    ``text`` is a size; or ``tables-end``: an eighth of it is the end of the first group's inode
    table and the rest data; or ``middle``: likewise in the group in the partition's middle; or
    ``data``: where the first group's data begin, or behind the journal.

    Raises:
        ValueError: ``text`` has another form.
    """
    if text == DATA:
        return _free_start(length, sizes)
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


def _free_start(length: int, sizes: Geometry) -> int:
    """Return the start of free data, or of the next group's, if the region does not fit there."""
    group, at = divmod(sizes.free, sizes.fpg)
    if at * sizes.fsize + length > sizes.fpg * sizes.fsize and group + 1 < sizes.groups:
        group, at = group + 1, sizes.dblkno
    return (group * sizes.fpg + at) * sizes.fsize


def first_inodes(length: int, ipg: int, inode_bytes: int) -> int:
    """Return the number of a group's first inodes that suit ``length`` bytes of data.

    They have as many bytes as the data, if the group has enough.
    """
    return min(ipg, length // inode_bytes)
