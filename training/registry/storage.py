"""Storage of a registry's files: a directory, or an object store (`object_store`).

Architecture invariant: small files (`current`, `pinned`, …) are replaced atomically, and versions
appear atomically. `Registry` needs nothing else.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from birthmark.data.common import durable
from birthmark.data.common.choices import suggest_sibling
from birthmark.data.common.regular import read_regular

MOST_BYTES = 64 << 20
"""Size limit of files beside the versions, in bytes; reports are the largest."""

Check = Callable[[Path], None]
"""Raises if a directory does not hold the expected version."""


class Storage(Protocol):
    """The files of a registry, by relative names. Changes require `writing`."""

    def missing(self) -> str | None:
        """Return a message if the place does not exist, with a suggestion; else None."""

    def at(self, name: str) -> str:
        """Return the place of a file, for messages."""

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""

    def stamp(self, name: str) -> Hashable:
        """Return a value that changes when a file is replaced; None if it does not exist."""

    def write(self, name: str, content: bytes) -> None:
        """Replace a file atomically and durably."""

    def names(self, folder: str) -> list[str]:
        """Return the names of the files in a folder, in order; none if it does not exist."""

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""

    def versions(self) -> list[str]:
        """Return the names in `versions`, in no order."""

    def local(self, version: str, check: Check) -> Path | None:
        """Return a local directory with a version's files; None if it does not exist.

        `check` verifies downloaded files before they are used.
        """

    def forget(self, version: str) -> bool:
        """Remove the local copy of a version; return whether there was one."""

    def writing(self) -> AbstractContextManager[None]:
        """Exclude other writers, as far as this storage can."""

    def staged(self) -> AbstractContextManager[Path]:
        """Yield an empty local directory in which to prepare a version."""

    def keep(self, staged: Path, version: str) -> None:
        """Make a staged directory a version, durably."""

    def discard(self, version: str) -> None:
        """Remove a version atomically."""


class LocalStorage:
    """A directory on a local disk (POSIX: `rename` is atomic, `fsync` lasting, `flock` excludes).

    Only the holder of the lock writes, so temporary names can be fixed. A file of such a name at
    the start of a writer is a leftover of a crash.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._versions = path / "versions"
        self._incoming = self._versions / ".incoming"
        self._discarded = self._versions / ".discarded"

    def __str__(self) -> str:
        return str(self.path)

    def missing(self) -> str | None:
        """Return a message if the directory does not exist, with a suggestion; else None."""
        if self.path.is_dir():
            return None
        return f"{self.path}: is not a directory{suggest_sibling(self.path)}"

    def at(self, name: str) -> str:
        """Return the path of a file."""
        return str(self.path / name)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if it does not exist."""
        try:
            return read_regular(self.path / name, MOST_BYTES)
        except FileNotFoundError:
            return None

    def stamp(self, name: str) -> Hashable:
        """Return a file's inode and time of change; None if it does not exist."""
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
        with durable.replaced(path) as temporary:
            temporary.write_bytes(content)

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
        """Return the names in `versions`."""
        if not self._versions.is_dir():
            return []
        return [path.name for path in self._versions.iterdir()]

    def local(self, version: str, check: Check) -> Path | None:
        """Return the directory of a version."""
        path = self._versions / version
        return path if path.is_dir() else None

    def forget(self, version: str) -> bool:
        """Return False: there are no copies."""
        return False

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the registry's lock, which ends with the process; remove leftovers of a crash."""
        if not self._versions.is_dir():
            self._versions.mkdir(parents=True, exist_ok=True)
            durable.sync(self.path.parent)
        with durable.locked(self.path / ".lock"):
            for path in durable.left_in(self.path):
                durable.remove(path)
            yield

    @contextmanager
    def staged(self) -> Iterator[Path]:
        """Yield a directory beside the versions; the next call clears an unused one."""
        shutil.rmtree(self._incoming, ignore_errors=True)
        self._incoming.mkdir()
        yield self._incoming

    def keep(self, staged: Path, version: str) -> None:
        """Sync and rename the directory."""
        durable.sync_tree(staged)
        durable.rename(staged, self._versions / version)

    def discard(self, version: str) -> None:
        """Rename, then remove, so that a crash leaves no partial version."""
        shutil.rmtree(self._discarded, ignore_errors=True)
        durable.rename(self._versions / version, self._discarded)
        shutil.rmtree(self._discarded)
