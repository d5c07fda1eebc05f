"""Set the attributes of an operation on real files."""

from __future__ import annotations

import os
import stat
import time

from birthmark.research.replay.operation import Operation


def set_attributes(
    at: int | bytes, operation: Operation, real: bool, above: int | None = None
) -> None:
    """Apply a setattr to an open object, or to a symbolic link by its name in ``above``.

    A symbolic link has no mode of its own here.
    """
    where: dict[str, object] = {} if above is None else {"dir_fd": above, "follow_symlinks": False}
    by_owner = bool(operation.uid)
    if by_owner and above is None:
        _set_mode(at, operation, real)
    if real:
        _set_owner(at, operation, where)
    if not by_owner and above is None:
        _set_mode(at, operation, real)
    if operation.atime is not None or operation.mtime is not None or operation.now:
        os.utime(at, **_times(at, operation, where), **where)  # type: ignore[arg-type]


def own_mode(mode: int, real: bool, directory: bool) -> int:
    """Return the mode to set; without superuser rights, with the bits that later calls need."""
    if real:
        return mode & 0o7777
    return mode & 0o777 | (0o700 if directory else 0o600)


def _set_mode(at: int | bytes, operation: Operation, real: bool) -> None:
    if operation.mode is not None:
        directory = stat.S_ISDIR(os.stat(at).st_mode)  # noqa: PTH116
        os.chmod(at, own_mode(operation.mode, real, directory))  # noqa: PTH101


def _set_owner(at: int | bytes, operation: Operation, where: dict[str, object]) -> None:
    owner, group = (-1 if each is None else each for each in (operation.owner, operation.group))
    if (owner, group) != (-1, -1):
        os.chown(at, owner, group, **where)  # type: ignore[arg-type]


def _times(at: int | bytes, operation: Operation, where: dict[str, object]) -> dict[str, object]:
    now = operation.now or 0
    if now == 3:
        return {}  # other users may only set them this way
    found = os.stat(at, **where)  # type: ignore[arg-type]  # noqa: PTH116
    atime = found.st_atime_ns if operation.atime is None else operation.atime * 1000
    mtime = found.st_mtime_ns if operation.mtime is None else operation.mtime * 1000
    present = time.time_ns()
    return {"ns": (present if now & 1 else atime, present if now & 2 else mtime)}


def set_new_attributes(name: bytes, above: int, operation: Operation, real: bool) -> None:
    """Give a new object, by its name in ``above``, the owner, group and mode that it had."""
    where: dict[str, object] = {"dir_fd": above, "follow_symlinks": False}
    if real:
        _set_owner(name, operation, where)
    found = os.stat(name, **where)  # type: ignore[arg-type]  # noqa: PTH116
    if operation.mode is not None and not stat.S_ISLNK(found.st_mode):
        mode = own_mode(operation.mode, real, stat.S_ISDIR(found.st_mode))
        os.chmod(name, mode, dir_fd=above)
