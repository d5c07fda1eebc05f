"""Reading files that somebody else may replace: only regular files, up to a size."""

from __future__ import annotations

import errno
import os
import stat
from io import BufferedReader
from pathlib import Path

SETTINGS_BYTES = 1 << 20
"""The largest file of settings, of predicates or of a token."""

MODEL_BYTES = 1 << 30
"""The largest file of a model; libbirthmark has the same limit."""


def read_regular(path: Path, most: int) -> bytes:
    """Return the contents of a regular file of at most ``most`` bytes.

    Raises ``OSError``, naming the path, for a file of another type (to read a FIFO would wait for a
    writer), and for one that is larger.
    """
    return read_with_status(path, most)[0]


def read_with_status(path: Path, most: int) -> tuple[bytes, os.stat_result]:
    """Return the contents as ``read_regular`` does, and the file's status before it was read."""
    with open_regular(path) as file:
        status = os.fstat(file.fileno())
        content = file.read(most + 1) if status.st_size <= most else b""
    if max(status.st_size, len(content)) > most:
        raise OSError(errno.EFBIG, f"expected at most {most:,} bytes", str(path))
    return content, status


def open_regular(path: Path) -> BufferedReader:
    """Open a regular file to read; raise ``OSError``, naming the path, for one of another type."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "expected a regular file", str(path))
    return os.fdopen(descriptor, "rb")
