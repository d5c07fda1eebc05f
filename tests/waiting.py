"""Waiting for what happens elsewhere, and ports that are waited for."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


def eventually(holds: Callable[[], object], seconds: float = 20) -> bool:
    """Tell whether `holds` comes true within `seconds`, for what tells nobody when it does."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.01)
    return False


@contextmanager
def reserved_port() -> Iterator[int]:
    """Yield a port of this host that nobody else is given, and that refuses until a server listens.

    It is held by a socket that does not listen. A server that sets SO_REUSEADDR, as all that are
    tested do, can listen there all the same, and again after it was killed.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))
        yield held.getsockname()[1]
