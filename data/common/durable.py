"""Writing so that a crash at any instant leaves either the old state or the new one.

The order is always: write aside, flush to the disk, rename, flush the directory (POSIX renames
within a file system are atomic, and a rename is durable once its directory has been flushed).
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shutil
import socket
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import TextIO

from birthmark.data.common.descriptors import closing

_PRIVATE = 0o770  # and the umask may want less
_LOCK = ".lock"
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Of writing, and told without a name."""

log = logging.getLogger(__name__)


class LockedError(OSError):
    """Another process holds the lock."""


def sync(path: Path) -> None:
    """Flush one file, or one directory's entries, to the disk."""
    with closing(os.open(path, os.O_RDONLY)) as descriptor:
        os.fsync(descriptor)


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
    try:
        with _told_of(path, aside):
            aside.write_text(text, encoding="utf-8")
            sync(aside)
            rename(aside, path)
    finally:
        remove(aside)


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield the path of a file or directory to write, which then takes the place of `path`.

    It stands beside `path` under a name of its own until the block ends. When that is by an
    exception, a full disk for one, it is removed and `path` is left as it was. A directory may
    only take the place of none, or of an empty one.
    """
    # Of whoever else writes the same, on this machine or another that shares the file system.
    aside = path.with_name(f".{path.name}.{socket.gethostname()}-{os.getpid()}.new")
    remove(aside)
    try:
        with _told_of(path, aside):
            yield aside
            if aside.is_dir():
                sync_tree(aside)
            else:
                sync(aside)
            rename(aside, path)
    finally:
        remove(aside)


@contextmanager
def _told_of(path: Path, aside: Path) -> Iterator[None]:
    """Let errors name `path`, which was asked for, rather than `aside` or nothing."""
    try:
        yield
    except OSError as error:
        full = error.errno in _FULL and error.filename is None
        if error.errno is None or not (full or str(aside) in str(error)):
            raise
        name = str(error.filename or path).replace(str(aside), str(path))
        raise OSError(error.errno, os.strerror(error.errno), name) from error


def private(directory: Path) -> None:
    """Make a directory that is open to its owner and group alone, if there is none.

    Of what it holds others learn nothing, whatever the modes in it. One that is there stays as it
    is: its mode is its owner's to choose.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    directory.mkdir(_PRIVATE, exist_ok=True)


def check_writable(directory: Path) -> None:
    """Make a directory as `private` does; raise OSError, which names it, if it takes no file."""
    try:
        private(directory)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        error.filename = str(directory)
        raise


def make_like(old: Path, new: Path, mode: int) -> None:
    """Make an empty file, with mode, owner and group of `old`; of `mode` if that is not there.

    Raises PermissionError where it cannot be its owner's and group's. Access control lists are not
    looked at.
    """
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        if old.exists():
            status, own = old.stat(), os.fstat(descriptor)
            mode = stat.S_IMODE(status.st_mode)
            if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
                os.fchown(descriptor, status.st_uid, status.st_gid)
        os.fchmod(descriptor, mode)
    except PermissionError as error:
        what = "its owner and group could not be kept"
        raise PermissionError(error.errno, what, str(old)) from error
    finally:
        os.close(descriptor)


def made(path: Path, make: Callable[[Path], object]) -> None:
    """Let `make` write `path`, a file or directory, unless it is there.

    Several processes may do so at once, of whom one is first: all must make the same.
    """
    if path.exists():
        return
    try:
        with replaced(path) as aside:
            make(aside)
    except OSError:
        if not path.exists():
            raise


def remove(path: Path) -> None:
    """Remove a file, or a directory with all that is in it, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_empty(directory: Path, below: Path) -> None:
    """Remove a directory, and those above it that are below `below`, as far as they are empty."""
    for each in _up_to(directory, below):
        with suppress(OSError):
            each.rmdir()


def _up_to(directory: Path, below: Path) -> Iterator[Path]:
    """Yield a directory, then those above it that are below `below`."""
    return takewhile(lambda each: each != below, (directory, *directory.parents))


def link(path: Path, target: Path) -> None:
    """Give a file that stays as it is a second name; copy it where the file system cannot."""
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


def left_in(directory: Path) -> list[Path]:
    """Return what was written aside, in `directory` and the directories in it, and not renamed.

    Where no other process writes, those that did were killed.
    """
    return [*directory.glob(".*.new"), *directory.glob("*/.*.new")]


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


@contextmanager
def alone_in(directory: Path) -> Iterator[None]:
    """Be the only process that holds a directory; one that dies lets it go.

    Who finds it held waits, and says so. It is made if need be (`private`), and where nothing is in
    it at the end, it and those above it that were made with it are removed.
    """
    before, lock = directory, None
    while lock is None:
        ancestors = (each for each in (directory, *directory.parents) if each.exists())
        before = min(before, next(ancestors, Path()), key=lambda path: len(path.parts))
        private(directory)
        lock = _hold(directory / _LOCK)
    with lock:
        for made in _up_to(directory, before):
            sync(made.parent)
        try:
            yield
        finally:
            (directory / _LOCK).unlink(missing_ok=True)
            remove_empty(directory, before)


def _hold(path: Path) -> TextIO | None:
    """Return a lock file, open and locked; None where who had it before has removed it."""
    try:
        file = path.open("a")
    except FileNotFoundError:
        if path.parent.exists():
            raise
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.warning("%s: another process writes there; waiting until it is done", path.parent)
        fcntl.flock(file, fcntl.LOCK_EX)
    if _is_at(file, path):
        return file
    file.close()
    return None


def _is_at(file: TextIO, path: Path) -> bool:
    """Tell whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
