"""Images of file systems as newfs makes them: superblock and maps, all else being holes."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

MB = 1 << 20
SUPERBLOCK = 8192  # bytes
UFS2 = 0x19540119
SUJ_MIN, SUJ_MAX = 4 * MB, 32 * MB
DIRECT = 12
_USED, _FREE = 92, 96  # where a group's block says that its maps are
_MAPS = 168


@dataclass(frozen=True)
class Made:
    """The sizes of a file system that newfs makes, by their names in ``fs.h``."""

    place: int  # of the superblock
    magic: int
    cblkno: int
    iblkno: int
    dblkno: int
    ncg: int
    bsize: int
    fsize: int
    inopb: int
    ipg: int
    fpg: int
    order: str = "<"

    @classmethod
    def of(cls, path: Path, order: str) -> Made:
        """Return those of an image of makefs, whose superblock is at 8 KB in both versions."""
        with path.open("rb") as file:
            block = os.pread(file.fileno(), SUPERBLOCK, SUPERBLOCK)
        at = (1372, 12, 16, 20, 44, 48, 52, 120, 184, 188)
        found = [struct.unpack_from(f"{order}i", block, offset)[0] for offset in at]
        return cls(SUPERBLOCK, *found, order=order)

    @property
    def frag(self) -> int:
        return self.bsize // self.fsize

    @property
    def first(self) -> int:
        """The fragment behind the summaries of the first group."""
        return self.dblkno + -(-self.ncg * 16 // self.fsize)


# what newfs makes of 40 GB: FreeBSD 4.8's of UFS1, the thesis's partition, and 15's of UFS2
THESIS = Made(8192, 0x011954, 16, 24, 1424, 231, 16384, 2048, 128, 22400, 91136)
TODAY = Made(65536, UFS2, 32, 40, 5048, 66, 32768, 4096, 128, 80128, 160056)
# the first 1.8 GB of the latter: 3 groups
SMALL = replace(TODAY, ncg=3)


def image(path: Path, made: Made, groups: int = 1, **other: int) -> Path:
    """Write a file with a superblock and the maps of the first groups.

    Of the inodes of the first group 100 are used, and of its fragments for data the first ten; of
    the others' none are. ``other`` changes a number of the superblock, as ``_48``.
    """
    numbers = {
        12: made.cblkno,
        16: made.iblkno,
        20: made.dblkno,
        36: made.ncg * made.fpg,
        44: made.ncg,
        48: made.bsize,
        52: made.fsize,
        120: made.inopb,
        152: made.dblkno,
        156: made.ncg * 16,
        184: made.ipg,
        188: made.fpg,
        1372: made.magic,
    } | {int(name[1:]): value for name, value in other.items()}
    block = bytearray(SUPERBLOCK)
    for offset, value in numbers.items():
        struct.pack_into(f"{made.order}i", block, offset, value)
    struct.pack_into(f"{made.order}q", block, 1080, made.ncg * made.fpg)
    struct.pack_into(f"{made.order}q", block, 1096, made.dblkno)
    with path.open("wb") as file:
        file.truncate(max(groups, 2) * made.fpg * made.fsize)
        os.pwrite(file.fileno(), block, made.place)
        for group in range(groups):
            os.pwrite(file.fileno(), _group(made, group), _at(made, group))
    return path


def _at(made: Made, group: int) -> int:
    return (group * made.fpg + made.cblkno) * made.fsize


def _group(made: Made, group: int) -> bytes:
    block = bytearray(made.bsize)
    struct.pack_into(f"{made.order}I", block, 4, 0x090255)
    struct.pack_into(f"{made.order}2I", block, _USED, _MAPS, _MAPS + -(-made.ipg // 8))
    used, free = np.arange(made.ipg) < (100 if group == 0 else 0), np.arange(made.fpg)
    _put(block, made, used, free >= (made.first + 10 if group == 0 else made.dblkno))
    return bytes(block)


def _put(block: bytearray, made: Made, used: Any, free: Any) -> None:
    for offset, bits in zip((_USED, _FREE), (used, free), strict=True):
        packed = np.packbits(bits, bitorder="little").tobytes()
        (at,) = struct.unpack_from(f"{made.order}I", block, offset)
        block[at : at + len(packed)] = packed


@contextmanager
def maps(path: Path, made: Made, group: int) -> Iterator[tuple[Any, Any]]:
    """Yield which inodes of a group are used, and which fragments are free; write them at the end.

    Both are arrays of truth values.
    """
    with path.open("r+b") as file:
        block = bytearray(os.pread(file.fileno(), made.bsize, _at(made, group)))
        used_at, free_at = struct.unpack_from(f"{made.order}2I", block, _USED)

        def bits(at: int, count: int) -> Any:
            packed = np.frombuffer(block[at : at + -(-count // 8)], np.uint8)
            return np.unpackbits(packed, count=count, bitorder="little").astype(bool)

        used, free = bits(used_at, made.ipg), bits(free_at, made.fpg)
        yield used, free
        _put(block, made, used, free)
        os.pwrite(file.fileno(), block, _at(made, group))


def change(
    path: Path,
    made: Made,
    group: int,
    used: Sequence[int] = (),
    inodes: Sequence[int] = (),
) -> None:
    """Take fragments of a group, and inodes of it."""
    with maps(path, made, group) as (spent, free):
        spent[list(inodes)] = True
        free[list(used)] = False


def journal_blocks(made: Made, most: int | None) -> int:
    """Return how many blocks ``tunefs -j enable`` gives a journal, with its indirect blocks.

    tunefs.c, journal_alloc: the file system's fragments times the size of a block, over 1024; up
    to FreeBSD 14 at most SUJ_MAX; at most a cylinder group; at least SUJ_MIN.
    """
    size = made.ncg * made.fpg * made.bsize // 1024
    size = max(SUJ_MIN, min(size, most or size, made.fpg * made.fsize))
    blocks = -(-size // made.bsize)
    nindir = made.bsize // (8 if made.magic == UFS2 else 4)
    behind = max(blocks - DIRECT, 0)
    double = 1 if behind > nindir else 0
    return blocks + -(-behind // nindir) + double


def add_journal(path: Path, made: Made, most: int | None = None) -> int:
    """Give a file system a journal as ``newfs -j`` and ``tunefs -j enable`` do.

    It has the first free inode, and the first free blocks of the first groups (libufs, cgialloc
    and cgballoc). Then the root directory gets the next block, in the place of its fragment.
    Returns the fragment behind that, from the beginning of the file system.
    """
    left, end = journal_blocks(made, most) + 1, 0
    for group in range(made.ncg):
        with maps(path, made, group) as (used, free):
            if group == 0:
                used[int(np.argmin(used))] = True
            whole = free[: made.fpg // made.frag * made.frag].reshape(-1, made.frag)
            spent = np.flatnonzero(whole.all(axis=1))[:left]
            whole[spent] = False
            if len(spent):
                left, end = left - len(spent), group * made.fpg + (int(spent[-1]) + 1) * made.frag
        if not left:
            break
    with maps(path, made, 0) as (_, free):
        free[made.first] = True
    with path.open("r+b") as file:
        os.pwrite(file.fileno(), struct.pack(f"{made.order}i", 0xA), made.place + 1312)
        os.pwrite(file.fileno(), b"\x80", made.place + 211)  # flags are where they now are
    return end
