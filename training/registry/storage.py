"""Where a registry's files lie: in a directory, or in an object store (`object_store`).

Whatever it is, small files (`current`, `pinned`, …) are replaced whole or not at all, and a version
is there whole or not at all: `Registry` needs no more.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from birthmark.data.common import durable
from birthmark.data.common.choices import meant_beside

Check = Callable[[Path], None]
"""Raises where a directory does not hold the version that it should."""


class Storage(Protocol):
    """The files of a registry. Names are relative to it; only who is `writing` may change any."""

    def missing(self) -> str | None:
        """Return a message where there is no such place, with what may be meant; else None.

        In an object store there is any place.
        """

    def at(self, name: str) -> str:
        """Return where a file is, for messages."""

    def read(self, name: str) -> bytes | None:
        """Return what a file holds; None where there is none."""

    def stamp(self, name: str) -> Hashable:
        """Return what differs after a file was replaced; None where there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Replace a file, whole or not at all, for good."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder, in order; none where there is no such."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    def versions(self) -> list[str]:
        """Return the names of what is in `versions`, in no order."""

    def local(self, version: str, check: Check) -> Path | None:
        """Return a local directory with a version's files; None where there is no such version.

        Where they have to be brought from elsewhere, `check` sees them before anyone else.
        """

    def forget(self, version: str) -> bool:
        """Drop the local copy of a version; return whether it was no more than a copy."""

    def writing(self) -> AbstractContextManager[None]:
        """Keep other writers out, as far as that can be done here."""

    def staged(self) -> AbstractContextManager[Path]:
        """Yield an empty directory on a local disk, in which a version is prepared."""

    def keep(self, staged: Path, version: str) -> None:
        """Make what was staged a version, for good."""

    def discard(self, version: str) -> None:
        """Remove a version, whole or not at all."""


class LocalStorage:
    """A directory on a local disk (POSIX: `rename` is atomic, `fsync` lasting, `flock` excludes).

    Only the holder of the lock writes, so what is aside needs no name of its own; and whatever
    bears such a name when a writer starts, a crash left behind.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._versions = path / "versions"
        self._incoming = self._versions / ".incoming"
        self._discarded = self._versions / ".discarded"

    def __str__(self) -> str:
        return str(self.path)

    def missing(self) -> str | None:
        """Return a message where there is no such directory, with what may be meant; else None."""
        if self.path.is_dir():
            return None
        return f"{self.path}: is no directory{meant_beside(self.path)}"

    def at(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.path / name)

    def read(self, name: str) -> bytes | None:
        """Return what a file holds; None where there is none."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            return None

    def stamp(self, name: str) -> Hashable:
        """Return a file's number and time of change; None where there is none."""
        try:
            status = (self.path / name).stat()
        except OSError:
            return None
        return status.st_ino, status.st_mtime_ns

    def write(self, name: str, content: bytes) -> None:
        """Replace a file by a rename."""
        path = self.path / name
        if not path.parent.is_dir():
            path.parent.mkdir()
            durable.sync(self.path)
        with durable.replaced(path) as aside:
            aside.write_bytes(content)

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a directory."""
        path = self.path / folder
        return sorted(own.name for own in path.glob("[!.]*")) if path.is_dir() else []

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        if self.path.is_dir():
            (self.path / name).unlink(missing_ok=True)
            durable.sync(self.path)

    def versions(self) -> list[str]:
        """Return the names of what is in `versions`."""
        if not self._versions.is_dir():
            return []
        return [path.name for path in self._versions.iterdir()]

    def local(self, version: str, check: Check) -> Path | None:
        """Return the directory of a version."""
        path = self._versions / version
        return path if path.is_dir() else None

    def forget(self, version: str) -> bool:
        """Do nothing: what there is is no copy."""
        return False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the registry's lock, which a process that dies lets go; remove what that left."""
        if not self._versions.is_dir():
            self._versions.mkdir(parents=True, exist_ok=True)
            durable.sync(self.path.parent)
        with durable.locked(self.path / ".lock"):
            for path in durable.left_in(self.path):
                durable.remove(path)
            yield

    @contextmanager
    def staged(self) -> Iterator[Path]:
        """Yield a directory beside the versions; one that is not kept is cleared by the next."""
        shutil.rmtree(self._incoming, ignore_errors=True)
        self._incoming.mkdir()
        yield self._incoming

    def keep(self, staged: Path, version: str) -> None:
        """Flush and rename."""
        durable.sync_tree(staged)
        durable.rename(staged, self._versions / version)

    def discard(self, version: str) -> None:
        """Rename and remove: a crash in between leaves no half version."""
        shutil.rmtree(self._discarded, ignore_errors=True)
        durable.rename(self._versions / version, self._discarded)
        shutil.rmtree(self._discarded)
