"""A Unix socket to listen at, whose file is there as long as it is."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from pathlib import Path

MODE = 0o660
"""Who may connect: the owner and the group of the socket's file (Linux, FreeBSD)."""

_UMASK = 0o777 & ~MODE


class UnixListener(socket.socket):
    """A stream socket that listens at ``path``, where at most ``backlog`` connections wait.

    The file that a service left behind which was killed is replaced; one at which something
    listens, and a file that is no socket, are left alone. ``close`` removes the file. Raises
    OSError, naming the path, where it cannot listen.
    """

    def __init__(self, path: Path, backlog: int) -> None:
        super().__init__(socket.AF_UNIX, socket.SOCK_STREAM)
        self._path = path
        self._file: os.stat_result | None = None
        try:
            _clear(path)
            # Nobody else may connect, not even before its mode could be changed.
            before = os.umask(_UMASK)
            try:
                self.bind(os.fspath(path))
            finally:
                os.umask(before)
            self._file = path.lstat()
            self.listen(backlog)
        except OSError as error:
            self.close()
            raise OSError(f"cannot listen at {path}: {error}") from error

    def close(self) -> None:
        """Stop listening, and remove the file unless it is another's by now."""
        super().close()
        mine, self._file = self._file, None
        with contextlib.suppress(OSError):
            if mine is not None and os.path.samestat(mine, self._path.lstat()):
                self._path.unlink()


def _clear(path: Path) -> None:
    """Remove a socket at which nothing listens; raise OSError for anything else at ``path``."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise OSError("expected a socket or nothing there, found another kind of file")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(path))
        except ConnectionRefusedError:
            path.unlink()
        except BlockingIOError:  # its queue is full: something listens
            raise OSError("another process listens there") from None
        else:
            raise OSError("another process listens there")
