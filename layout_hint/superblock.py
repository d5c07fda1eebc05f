"""Which region suits a file system, and what it would hold: from its superblock and maps."""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from birthmark.layout_hint.replay.region import first_inodes

PLACES = (65536, 8192, 0, 262144)
"""The bytes at which a superblock may begin, in the order in which the kernel looks."""

_BYTES = 8192  # of a superblock
_MAGIC = {0x011954: "UFS1", 0x19540119: "UFS2"}
_GROUP_MAGIC = 0x090255
_ROOT = 2  # the inodes up to that of the root are no file's


class UfsError(ValueError):
    """There is no file system of that kind, or it is damaged."""


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

    @property
    def inode_bytes(self) -> int:
        """Bytes of an inode on disk."""
        return self.bsize // self.inopb

    def first_data(self, group: int) -> int:
        """Return the fragment of a group, from its first, behind its inodes and summaries."""
        summaries = self.csaddr == self.dblkno and group == 0
        return self.dblkno + (-(-self.cssize // self.fsize) if summaries else 0)


@dataclass(frozen=True)
class Suggestion:
    """A region, and what it holds."""

    format: str
    groups: int
    group_bytes: int
    block_bytes: int
    group: int
    region_start: int  # these three as the helper's options have them
    region_length: int
    region_inodes: int
    inodes: int  # that a file may have
    inodes_free: int
    bytes_free: int  # of its data


def suggest(path: Path, length: int, group: int = 0) -> Suggestion:
    """Return the region of ``length`` bytes of data that suits a file system best.

    It begins where the data of the group do, and has as many bytes of the group's first inodes, if
    there are so many.

    Raises:
        UfsError: it is no file system, a damaged one, or one whose groups do not begin with their
            tables; or the group does not exist or has less data.
        OSError: it cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        found = superblock(file.fileno(), path)
        if group >= found.ncg:
            raise UfsError(f"{path}: expected a cylinder group below {found.ncg}; found {group}")
        first, last = found.first_data(group), min(found.fpg, found.size - group * found.fpg)
        fragments = length // found.fsize
        if not 0 < fragments <= last - first:
            most = (last - first) * found.fsize
            raise UfsError(
                f"{path}: expected from {found.fsize:,} to {most:,} bytes, which group {group} has"
                f" for data; found {length:,}"
            )
        inodes = first_inodes(length, found.ipg, found.inode_bytes)
        used, free = _maps(file.fileno(), path, found, group)
    lowest = _ROOT + 1 if group == 0 else 0
    return Suggestion(
        format=found.format,
        groups=found.ncg,
        group_bytes=found.fpg * found.fsize,
        block_bytes=found.bsize,
        group=group,
        region_start=(group * found.fpg + first) * found.fsize,
        region_length=fragments * found.fsize,
        region_inodes=inodes,
        inodes=max(inodes - lowest, 0),
        inodes_free=sum(not _bit(used, at) for at in range(lowest, inodes)),
        bytes_free=sum(_bit(free, at) for at in range(first, first + fragments)) * found.fsize,
    )


def superblock(file: int, path: Path) -> Superblock:
    """Return the superblock of an open device or image; errors as above."""
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
        size = 0  # groups that begin elsewhere each: no region can be in one
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
    )


def _checked(found: Superblock, path: Path) -> Superblock:
    """Return it, if its sizes can be those of groups that begin with their tables."""
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


def _maps(file: int, path: Path, found: Superblock, group: int) -> tuple[bytes, bytes]:
    """Return a group's map of inodes in use, and of free fragments."""
    at = (group * found.fpg + found.cblkno) * found.fsize
    content = os.pread(file, found.bsize, at)
    if len(content) == found.bsize:
        magic, used, free = (
            struct.unpack_from(f"{found.order}I", content, offset)[0] for offset in (4, 92, 96)
        )
        maps = content[used : used + -(-found.ipg // 8)], content[free : free + -(-found.fpg // 8)]
        if (
            magic == _GROUP_MAGIC
            and len(maps[0]) * 8 >= found.ipg
            and len(maps[1]) * 8 >= found.fpg
        ):
            return maps
    raise UfsError(f"{path}: expected the maps of group {group} at byte {at}")


def _bit(content: bytes, at: int) -> bool:
    return bool(content[at // 8] >> at % 8 & 1)
