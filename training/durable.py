"""Writing so that a crash at any instant leaves either the old state or the new one.

The order is always: write aside, flush to the disk, rename, flush the directory (POSIX renames
within a file system are atomic, and a rename is durable once its directory has been flushed).
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class LockedError(OSError):
    """Another process holds the lock."""


def sync(path: Path) -> None:
    """Flush one file, or one directory's entries, to the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(directory: Path) -> None:
    """Flush every file and directory below `directory`, and itself last."""
    for path in sorted(directory.rglob("*"), reverse=True):
        sync(path)
    sync(directory)


def rename(source: Path, target: Path) -> None:
    """Give `source` the name `target`, in place of what had it, and flush that to the disk."""
    source.replace(target)
    sync(target.parent)


def write_text(path: Path, text: str) -> None:
    """Replace the contents of `path`, whole or not at all.

    Two processes must not do this to one path at once: hold a lock.
    """
    aside = path.with_name(f".{path.name}.new")
    aside.write_text(text, encoding="utf-8")
    sync(aside)
    rename(aside, path)


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[None]:
    """Hold the lock file `path` exclusively; a process that dies lets it go.

    Raises `LockedError` where `wait` is false and another holds it.
    """
    with path.open("a") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise LockedError(f"{path}: another process holds this lock") from error
        yield
