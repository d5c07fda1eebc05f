"""The target of an output path: a file to replace, or a stream to write to."""

from __future__ import annotations

import errno
import os
import re
import stat
from pathlib import Path

_LINKS = 40
"""The most symbolic links followed for one path, as in Linux (path_resolution(7))."""

_NOT_A_FILE = "expected a regular file or a name that is free, since it is replaced"
_NO_OUTPUT = "expected a regular file, a character device, a FIFO or a name that is free"


def regular(path: Path) -> Path:
    """Return the path of the regular file or directory to replace, behind any symbolic links.

    Raises:
        OSError: the path leads to a device, a FIFO or a socket, which a rename would remove.
    """
    if _own_descriptor(path) is not None or not _is_replaceable(path):
        raise OSError(errno.EINVAL, _NOT_A_FILE, str(path))
    return _behind_links(path)


def open_stream(path: Path) -> int | None:
    """Return a descriptor of the stream at `path`; None if it is a file or does not exist.

    A descriptor of this process, as ``/dev/stdout`` names one, is duplicated, so that its position
    is shared even where it is a regular file. Opening a FIFO waits for its reader (fifo(7)).

    Raises:
        OSError: the path leads to a block device or a socket.
    """
    descriptor = _own_descriptor(path)
    if descriptor is not None:
        return os.dup(descriptor)
    if _is_replaceable(path):
        return None
    check_output(path)
    return os.open(path, os.O_WRONLY | os.O_NOCTTY)


def check_output(path: Path) -> None:
    """Raise OSError if no output can be written to `path`."""
    if _own_descriptor(path) is None and not _is_replaceable(path):
        mode = path.stat().st_mode
        if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
            raise OSError(errno.EINVAL, _NO_OUTPUT, str(path))


def _is_replaceable(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return True
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)


def _behind_links(path: Path) -> Path:
    return path.resolve() if path.is_symlink() else path


def _own_descriptor(path: Path) -> int | None:
    """Return the number of the open descriptor that ``/dev/stdout`` and the like name, if any."""
    own = re.compile(rf"/dev/fd|/proc/{os.getpid()}(/task/[0-9]+)?/fd")
    for _ in range(_LINKS):
        parent = path.parent.resolve()
        if own.fullmatch(str(parent)) and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            return None
        path = parent / path.readlink()
    return None
