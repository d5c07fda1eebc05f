"""The superblock of a UFS, and the free maps of its cylinder groups."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

PLACES = (65536, 8192, 0, 262144)
"""Bytes at which a superblock may begin, in the order in which the kernel looks."""

_BYTES = 8192  # of a superblock
_MAGIC = {0x011954: "UFS1", 0x19540119: "UFS2"}
_GROUP_MAGIC = 0x090255
_JOURNAL = 0x8  # FS_SUJ of fs_flags
_FLAGS_MOVED = 0x80  # of fs_old_flags: fs_flags holds the flags, also in UFS1

Flags = npt.NDArray[np.bool_]
"""A bit map, a value per bit."""


class UfsError(ValueError):
    """The file system is of another kind, or damaged."""


@dataclass(frozen=True)
class Superblock:
    """The sizes of a file system, by their names in ``fs.h``; offsets in fragments."""

    format: str  # UFS1 or UFS2
    order: str  # of bytes, as struct has it
    cblkno: int
    iblkno: int
    dblkno: int
    ncg: int
    bsize: int
    fsize: int
    inopb: int
    cssize: int
    csaddr: int
    ipg: int
    fpg: int
    size: int
    journal: bool  # soft updates with a journal (newfs -j)

    @property
    def inode_bytes(self) -> int:
        """Bytes of an inode on disk."""
        return self.bsize // self.inopb

    def first_data(self, group: int) -> int:
        """Return a group's first fragment after its inodes and summaries, relative to the group."""
        summaries = self.csaddr == self.dblkno and group == 0
        return self.dblkno + (-(-self.cssize // self.fsize) if summaries else 0)

    def fragments(self, group: int) -> int:
        """Return the number of fragments of a group; the last may have fewer."""
        return min(self.fpg, self.size - group * self.fpg)


@dataclass(frozen=True)
class GroupMaps:
    """Free maps of a cylinder group: a value for each inode and each fragment."""

    inodes: Flags
    fragments: Flags


def superblock(file: int, path: Path) -> Superblock:
    """Return the superblock of an open device or image.

    Raises:
        UfsError: it is no file system, a damaged one, or one whose groups do not begin with their
            tables.
    """
    for place in PLACES:
        content = os.pread(file, _BYTES, place)
        if len(content) < _BYTES:
            continue
        for order in "<>":
            (magic,) = struct.unpack_from(f"{order}I", content, 1372)
            if magic in _MAGIC:
                return _checked(_read(content, order, _MAGIC[magic]), path)
    places = ", ".join(map(str, PLACES))
    raise UfsError(
        f"{path}: expected a UFS file system, with a superblock at one of bytes {places}"
    )


def _read(content: bytes, order: str, format: str) -> Superblock:
    def at(offset: int) -> int:
        return int(struct.unpack_from(f"{order}i", content, offset)[0])

    size, csaddr = at(36), at(152)
    if format == "UFS2":
        size, csaddr = (struct.unpack_from(f"{order}q", content, each)[0] for each in (1080, 1096))
    elif at(24) and at(28) & 0xFFFFFFFF != 0xFFFFFFFF:
        size = 0  # groups with varying starts: no region can be in one
    return Superblock(
        format=format,
        order=order,
        cblkno=at(12),
        iblkno=at(16),
        dblkno=at(20),
        ncg=at(44),
        bsize=at(48),
        fsize=at(52),
        inopb=at(120),
        cssize=at(156),
        csaddr=csaddr,
        ipg=at(184),
        fpg=at(188),
        size=size,
        journal=bool(at(1312) & _JOURNAL)
        and (format == "UFS2" or bool(content[211] & _FLAGS_MOVED)),
    )


def _checked(found: Superblock, path: Path) -> Superblock:
    """Return it, if its sizes allow groups that begin with their tables."""
    inode = {"UFS1": 128, "UFS2": 256}[found.format]
    sound = (
        found.bsize in (4096, 8192, 16384, 32768, 65536)
        and found.fsize >= 512
        and found.bsize // found.fsize in (1, 2, 4, 8)
        and found.inopb * inode == found.bsize
        and 0 < found.cblkno < found.iblkno < found.dblkno < found.fpg
        and 0 < found.ipg <= (found.dblkno - found.iblkno) * found.fsize // inode
        and 0 < found.ncg <= -(-found.size // found.fpg)
        and found.cssize >= 0
    )
    if not sound:
        raise UfsError(f"{path}: expected a {found.format} whose groups begin with their tables")
    return found


def group_maps(file: int, path: Path, found: Superblock, group: int) -> GroupMaps:
    """Return the free maps of a group.

    Raises:
        UfsError: the group's block is damaged, or the file ends before it.
    """
    at = (group * found.fpg + found.cblkno) * found.fsize
    content = os.pread(file, found.bsize, at)
    if len(content) == found.bsize:
        magic, used, free = (
            struct.unpack_from(f"{found.order}I", content, offset)[0] for offset in (4, 92, 96)
        )
        inodes, fragments = _bits(content[used:], found.ipg), _bits(content[free:], found.fpg)
        if magic == _GROUP_MAGIC and len(inodes) == found.ipg and len(fragments) == found.fpg:
            return GroupMaps(~inodes, fragments)
        raise UfsError(f"{path}: expected the maps of group {group} at byte {at:,}")
    raise UfsError(f"{path}: expected the maps of group {group} at byte {at:,}; it ends before")


def _bits(content: bytes, count: int) -> Flags:
    packed = np.frombuffer(content[: -(-count // 8)], np.uint8)
    return np.unpackbits(packed, count=count, bitorder="little").astype(np.bool_)
