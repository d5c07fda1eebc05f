"""The objects of a replay on a real file system, by identifier.

Names are only used in an open directory, and a symbolic link as the last component is never
followed, so nothing outside the root can be reached.
"""

from __future__ import annotations

import errno
import os
import stat
from collections import OrderedDict
from pathlib import Path

from birthmark.layout_hint.rewrite.schema import ROOT_ID
from birthmark.research.replay.credentials import Credentials

OPEN_DIRECTORIES = 512
"""Directories held open: half of the 1,024 files that a process may usually open."""

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PLACE = getattr(os, "O_PATH", 0) | DIRECTORY
NAME_MAX_SHOWN = 80


class Store:
    """The places of objects. The most recently used directories stay open.

    Args:
        root: the directory that holds everything.
        credentials: become the superuser's to open directories.
    """

    def __init__(self, root: Path, credentials: Credentials) -> None:
        self._credentials = credentials
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._open: OrderedDict[int, int] = OrderedDict()
        self._names: dict[int, dict[tuple[int, bytes], None]] = {}
        self._at: dict[tuple[int, bytes], int] = {}
        self._kinds = {ROOT_ID: "directory"}
        self._inodes: dict[int, int] = {}
        self._strangers = 0

    def close(self) -> None:
        """Close every directory."""
        for descriptor in (*self._open.values(), self._root):
            os.close(descriptor)
        self._open.clear()

    def kind(self, number: int) -> str:
        """Return an object's kind.

        Raises:
            OSError: ESTALE if it does not exist.
        """
        try:
            return self._kinds[number]
        except KeyError:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE)) from None

    def knows(self, number: int) -> bool:
        """Return whether an object exists."""
        return number in self._kinds

    def inode(self, number: int) -> int | None:
        """Return an object's inode number."""
        return self._inodes.get(number)

    def directory(self, number: int) -> int:
        """Return the descriptor of a directory, valid until the next call for another.

        Raises:
            OSError: ESTALE if it does not exist; ENOTDIR if it is something else.
        """
        if number == ROOT_ID:
            return self._root
        descriptor = self._open.get(number)
        if descriptor is not None:
            self._open.move_to_end(number)
            return descriptor
        if self.kind(number) != "directory":
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        self._credentials.restore()
        descriptor = self._walk(number)
        self._open[number] = descriptor
        if len(self._open) > OPEN_DIRECTORIES:
            os.close(self._open.popitem(last=False)[1])
        return descriptor

    def _walk(self, number: int) -> int:
        """Open a directory, step by step from the nearest one that is open."""
        names = []
        while number != ROOT_ID and number not in self._open:
            number, name = self.place(number)
            names.append(name)
        above = self._root if number == ROOT_ID else self._open[number]
        below = above
        for name in reversed(names):
            descriptor = os.open(name, PLACE, dir_fd=below)
            if below != above:
                os.close(below)
            below = descriptor
        return below

    def place(self, number: int) -> tuple[int, bytes]:
        """Return one of an object's names: its directory and the name there.

        Raises:
            OSError: ESTALE if it has none.
        """
        names = self._names.get(number)
        if not names:
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))
        return next(iter(names))

    def add(self, number: int | None, directory: int, name: bytes, found: os.stat_result) -> None:
        """Record a new object with a name; None stands for one that no operation refers to."""
        if number is None:
            self._strangers -= 1
            number = self._strangers
        place = (directory, name)
        if self._at.get(place) not in (None, number):
            self.remove(directory, name)
        self._at[place] = number
        self._names.setdefault(number, {})[place] = None
        self._kinds[number] = kind_of(found)
        self._inodes[number] = found.st_ino

    def link(self, number: int, directory: int, name: bytes) -> None:
        """Record a further name of an object."""
        self._at[directory, name] = number
        self._names[number][directory, name] = None

    def remove(self, directory: int, name: bytes) -> None:
        """Record a removal of a name, and with its last name of the object."""
        number = self._at.pop((directory, name), None)
        if number is None:
            return
        names = self._names[number]
        del names[directory, name]
        if not names:
            for known in (self._names, self._kinds, self._inodes):
                known.pop(number, None)
            if number in self._open:
                os.close(self._open.pop(number))

    def move(self, source: tuple[int, bytes], target: tuple[int, bytes]) -> None:
        """Record a rename; two names of one object stay as they are."""
        number = self._at.get(source)
        if number is None or self._at.get(target) == number:
            return
        self.remove(*target)
        del self._at[source], self._names[number][source]
        self.link(number, *target)


def kind_of(found: os.stat_result) -> str:
    """Return the kind of an object."""
    return {
        stat.S_IFDIR: "directory",
        stat.S_IFREG: "file",
        stat.S_IFLNK: "symlink",
        stat.S_IFIFO: "fifo",
        stat.S_IFSOCK: "socket",
    }.get(stat.S_IFMT(found.st_mode), "device")


def check_name(name: bytes | None, where: str) -> bytes:
    """Return a name, checked to be possible for a directory entry.

    Raises:
        ValueError: it is not; ``where`` is its location for the message.
    """
    if not name or name in (b".", b"..") or b"/" in name or b"\0" in name:
        shown = repr(name[:NAME_MAX_SHOWN]) if name is not None else "null"
        raise ValueError(f"{where}: expected a name without / and NUL, found {shown}")
    return name
