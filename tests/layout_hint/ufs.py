"""A reader of UFS1 images: where every file's blocks are, from the bytes alone."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path

SUPERBLOCK, MAGIC, INODE, ROOT, DIRECT = 8192, 0x011954, 128, 2, 12
DIRECTORY = 0o040000


@dataclass(frozen=True)
class Inode:
    """What has an inode: whether it is a directory, its bytes, and its block pointers."""

    directory: bool
    size: int
    direct: tuple[int, ...]
    indirect: tuple[int, ...]


class Image:
    """An image of a file system in a file, little-endian."""

    def __init__(self, path: Path) -> None:
        self.content = path.read_bytes()
        self.iblkno = self.field(16)
        self.size, self.ncg, self.bsize, self.fsize = map(self.field, (36, 44, 48, 52))
        self.ipg, self.fpg, self.free_blocks = map(self.field, (184, 188, 196))
        assert self.field(1372) == MAGIC

    def field(self, offset: int) -> int:
        """Return a number of the superblock."""
        return int.from_bytes(self.content[SUPERBLOCK + offset :][:4], "little")

    def inode(self, number: int) -> Inode:
        """Return what has an inode."""
        group, index = divmod(number, self.ipg)
        at = (group * self.fpg + self.iblkno) * self.fsize + index * INODE
        mode, size = struct.unpack_from("<H6xQ", self.content, at)
        pointers = struct.unpack_from("<14I", self.content, at + 40)
        return Inode(mode & 0o170000 == DIRECTORY, size, pointers[:DIRECT], pointers[DIRECT:])

    def pointers(self, address: int) -> tuple[int, ...]:
        """Return what an indirect block points to."""
        return struct.unpack_from(f"<{self.bsize // 4}I", self.content, address * self.fsize)

    def addresses(self, inode: Inode) -> str:
        """Return where a file's blocks are, as recordings have it."""
        single, double = inode.indirect
        shown = [str(address) for address in inode.direct if address]
        if single:
            shown += [f"i{single}", *(str(each) for each in self.pointers(single) if each)]
        for leaf in filter(None, self.pointers(double) if double else ()):
            shown += [f"I{double}"] if f"I{double}" not in shown else []
            shown += [f"i{leaf}", *(str(each) for each in self.pointers(leaf) if each)]
        return " ".join(shown)

    def children(self, directory: Inode) -> list[int]:
        """Return the inodes of a directory's entries, without itself and its parent."""
        found, left = [], directory.size
        for address in directory.direct:
            part = self.content[address * self.fsize :][: min(left, self.bsize)]
            left -= len(part)
            at = 0
            while at < len(part):
                number, length, _, name = struct.unpack_from("<IHBB", part, at)
                if number and part[at + 8 :][:name] not in (b".", b".."):
                    found.append(number)
                at += length
        return found
