"""Writing such that a crash at any instant leaves either the old state or the new one.

The order is always: write a temporary file, flush it, rename it, flush the directory. POSIX renames
    within a file system are atomic, and a rename is durable once its directory has been flushed.
"""

from __future__ import annotations

import errno
import fcntl
import logging
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import BinaryIO, TextIO

from birthmark.data.common.descriptors import closing
from birthmark.data.common.host import host_name
from birthmark.data.common.targets import open_stream, regular

_PRIVATE = 0o770  # and the umask may want less
_LOCK = ".lock"
_CHUNK = 1 << 20
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO}
"""Errors of writing that the system reports without a file name."""

log = logging.getLogger(__name__)


class LockedError(OSError):
    """Another process holds the lock."""


def sync(path: Path) -> None:
    """Flush one file, or one directory's entries, to the disk."""
    with closing(os.open(path, os.O_RDONLY)) as descriptor:
        os.fsync(descriptor)


def sync_tree(directory: Path) -> None:
    """Flush every file and directory below `directory`, then `directory` itself."""
    for path in sorted(directory.rglob("*"), reverse=True):
        sync(path)
    sync(directory)


def rename(source: Path, target: Path) -> None:
    """Rename `source` to `target`, replacing what is there, and flush that to the disk."""
    source.replace(target)
    sync(target.parent)


def write_text(path: Path, text: str) -> None:
    """Replace the contents of `path` atomically, as `replaced` does.

    Two processes must not do this to one path at once: callers hold a lock.
    """
    with _replaced(path, "") as temporary:
        temporary.write_text(text, encoding="utf-8")


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield the path of a temporary file or directory to write, which then replaces `path`.

    It stands next to `path` under a hidden name until the block ends. After an exception, such as a
    full disk, it is removed and `path` is unchanged. A directory may only replace nothing or an
    empty directory. A symbolic link stays, and its target is replaced. Raises OSError if the target
    is a device, a FIFO or a socket.
    """
    # Other processes, on this machine or another that shares the file system, may do the same.
    with _replaced(path, f".{host_name()}-{os.getpid()}") as temporary:
        yield temporary


@contextmanager
def _replaced(path: Path, writer: str) -> Iterator[Path]:
    target = regular(path)
    temporary = target.with_name(f".{target.name}{writer}.new")
    remove(temporary)
    try:
        with _report_path(path, temporary):
            yield temporary
            if temporary.is_dir():
                sync_tree(temporary)
            else:
                sync(temporary)
            rename(temporary, target)
    finally:
        remove(temporary)


@contextmanager
def output(path: Path) -> Iterator[Path]:
    """Yield the path of a file to write, for an output that a user names.

    A regular file is `replaced`. A character device, a FIFO and ``/dev/stdout`` receive the
    contents when they are complete.
    """
    descriptor = open_stream(path)
    if descriptor is None:
        with replaced(path) as temporary:
            yield temporary
        return
    with closing(descriptor), tempfile.TemporaryDirectory() as scratch:
        temporary = Path(scratch, path.name)
        with _report_path(temporary, temporary):
            yield temporary
        with (
            _report_path(path, temporary),
            open(descriptor, "wb", closefd=False) as stream,
            temporary.open("rb") as file,
        ):
            shutil.copyfileobj(file, stream, _CHUNK)


@contextmanager
def opened_output(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write, for an `output` that a stream receives piece by piece."""
    descriptor = open_stream(path)
    if descriptor is None:
        with replaced(path) as temporary, temporary.open("wb") as file:
            yield file
        return
    with _report_path(path, path), os.fdopen(descriptor, "wb") as file:
        yield file


@contextmanager
def _report_path(path: Path, temporary: Path) -> Iterator[None]:
    """Make errors name `path`, which the caller gave, rather than `temporary` or nothing."""
    try:
        yield
    except OSError as error:
        full = error.errno in _FULL and error.filename is None
        if error.errno is None or not (full or str(temporary) in str(error)):
            raise
        name = str(error.filename or path).replace(str(temporary), str(path))
        raise OSError(error.errno, os.strerror(error.errno), name) from error


def name_writing(error: object, path: Path) -> None:
    """Add `path` to an error of writing that names no file, such as a full disk."""
    if isinstance(error, OSError) and error.errno in _FULL and error.filename is None:
        error.filename = str(path)


@contextmanager
def error_context(path: Path) -> Iterator[None]:
    """Add `path` to errors of writing that name no file."""
    try:
        yield
    except OSError as error:
        name_writing(error, path)
        raise


def private(directory: Path) -> None:
    """Make a directory that only its owner and group may open, if it does not exist.

    Others cannot see into it, whatever the modes inside. An existing directory keeps its mode,
    which its owner chose.
    """
    directory.parent.mkdir(parents=True, exist_ok=True)
    directory.mkdir(_PRIVATE, exist_ok=True)


def check_writable(directory: Path) -> None:
    """Make a directory as `private` does; raise OSError, which names it, if it is not writable."""
    try:
        private(directory)
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        error.filename = str(directory)
        raise


def make_like(old: Path, new: Path, mode: int) -> None:
    """Make an empty file with mode, owner and group of `old`, or with `mode` if `old` is missing.

    Raises PermissionError if owner and group cannot be set. Access control lists are ignored.
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
    """Let `make` write `path`, a file or directory, unless it exists.

    Several processes may do so at once, and the first wins: all must make the same.
    """
    if path.exists():
        return
    try:
        with replaced(path) as temporary:
            make(temporary)
    except OSError:
        if not path.exists():
            raise


def remove(path: Path) -> None:
    """Remove a file, or a directory and its contents, if it exists."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def remove_empty(directory: Path, below: Path) -> None:
    """Remove a directory and its parents below `below`, as far as they are empty."""
    for each in _up_to(directory, below):
        with suppress(OSError):
            each.rmdir()


def _up_to(directory: Path, below: Path) -> Iterator[Path]:
    """Yield a directory, then its parents below `below`."""
    return takewhile(lambda each: each != below, (directory, *directory.parents))


def link(path: Path, target: Path) -> None:
    """Hard-link a file that does not change; copy it if the file system cannot."""
    try:
        os.link(path, target)
    except OSError:
        shutil.copyfile(path, target)


def left_in(directory: Path) -> list[Path]:
    """Return temporary files left in `directory` and its directories, written but not renamed.

    If no other process writes now, their writers were killed.
    """
    return [*directory.glob(".*.new"), *directory.glob("*/.*.new")]


@contextmanager
def locked(path: Path, wait: bool = True) -> Iterator[None]:
    """Hold the lock file `path` exclusively; a process that dies releases it.

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
    """Hold a directory exclusively; a process that dies releases it.

    A second process waits, and logs that. The directory is made if needed (`private`). If it is
    empty at the end, it is removed, and so are the parents that were made with it.
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
    """Return a lock file, open and locked; None if its last holder has removed it."""
    try:
        file = path.open("a")
    except FileNotFoundError:
        if path.parent.exists():
            raise
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        log.warning("%s: another process is writing there; waiting for it", path.parent)
        fcntl.flock(file, fcntl.LOCK_EX)
    if _is_at(file, path):
        return file
    file.close()
    return None


def _is_at(file: TextIO, path: Path) -> bool:
    """Return whether a path still leads to an open file."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False
