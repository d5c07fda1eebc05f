"""Attributes of real files, set as an operation says."""

from __future__ import annotations

import os
import stat
import time

from birthmark.data.replay.operation import Operation


def set_attributes(
    at: int | bytes, operation: Operation, real: bool, above: int | None = None
) -> None:
    """Set what a setattr sets: of an open object, or of a symbolic link by its name in ``above``.

    A symbolic link has no mode of its own here.
    """
    where: dict[str, object] = {} if above is None else {"dir_fd": above, "follow_symlinks": False}
    by_owner = bool(operation.uid)
    if by_owner and operation.mode is not None and above is None:
        os.chmod(at, own_mode(operation.mode, real))  # noqa: PTH101
    if real:
        _set_owner(at, operation, where)
    if not by_owner and operation.mode is not None and above is None:
        os.chmod(at, own_mode(operation.mode, real))  # noqa: PTH101
    if operation.atime is not None or operation.mtime is not None or operation.now:
        os.utime(at, **_times(at, operation, where), **where)  # type: ignore[arg-type]


def own_mode(mode: int, real: bool) -> int:
    """Return the mode to set: who is not the superuser must not lock himself out."""
    return mode & 0o7777 if real else mode & 0o777 | 0o700


def _set_owner(at: int | bytes, operation: Operation, where: dict[str, object]) -> None:
    owner, group = (-1 if each is None else each for each in (operation.owner, operation.group))
    if (owner, group) != (-1, -1):
        os.chown(at, owner, group, **where)  # type: ignore[arg-type]


def _times(at: int | bytes, operation: Operation, where: dict[str, object]) -> dict[str, object]:
    now = operation.now or 0
    if now == 3:
        return {}  # only so may others than the owner set them
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
        os.chmod(name, own_mode(operation.mode, real), dir_fd=above)
