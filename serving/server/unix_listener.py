"""A listening Unix socket that removes its file when closed."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
from pathlib import Path

MODE = 0o660
"""The mode of the socket's file: its owner and group may connect (Linux, FreeBSD)."""

_UMASK = 0o777 & ~MODE


class UnixListener(socket.socket):
    """A stream socket that listens at ``path`` with a ``backlog``; ``close`` removes its file.

    It replaces the socket of a killed service, but no socket in use and no other kind of file.
    Raises OSError, naming the path, if it cannot listen.
    """

    def __init__(self, path: Path, backlog: int) -> None:
        super().__init__(socket.AF_UNIX, socket.SOCK_STREAM)
        self._path = path
        self._file: os.stat_result | None = None
        try:
            _clear(path)
            # A later chmod would let others connect before it.
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
        """Stop listening, and remove the file unless another process has replaced it."""
        super().close()
        bound, self._file = self._file, None
        with contextlib.suppress(OSError):
            if bound is not None and os.path.samestat(bound, self._path.lstat()):
                self._path.unlink()


def _clear(path: Path) -> None:
    """Remove an unused socket at ``path``; raise OSError for anything else there."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(status.st_mode):
        raise OSError("expected a socket or nothing there, found another kind of file")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(os.fspath(path))
        except ConnectionRefusedError:
            path.unlink()
        except BlockingIOError:  # its backlog is full, so a process listens
            raise OSError("another process listens there") from None
        else:
            raise OSError("another process listens there")
