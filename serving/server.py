"""The application on uvicorn."""

from __future__ import annotations

import contextlib
import signal
import socket
from collections.abc import Callable

import uvicorn

from serving.app import create_app
from serving.settings import Settings
from serving.unix_listener import UnixListener

GRACE_SECONDS = 10
"""How long requests may take to end once the service is told to stop."""


BACKLOG = 2048
"""How many connections may wait to be taken."""


def run(settings: Settings, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then end what was begun and return.

    Tells its URL to `say` once connections are taken. Raises OSError where it cannot listen.
    """
    # SIGTERM ends it as Ctrl-C does. uvicorn takes both while it serves, and raises them again
    # when it has stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    config = uvicorn.Config(
        create_app(settings),
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    with contextlib.suppress(KeyboardInterrupt), listen(settings) as listener:
        say(f"Birthmark answers at {url(listener)}")
        uvicorn.Server(config).run(sockets=[listener])


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens where the settings say; connections wait in it."""
    if settings.uds is not None:
        return UnixListener(settings.uds, BACKLOG)
    try:
        # The first address of that name, with its protocol named: asyncio sends at once, without
        # waiting for acknowledgements, only where a socket says that it is TCP.
        family, kind, protocol, _, address = socket.getaddrinfo(
            settings.host, settings.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
        )[0]
        with contextlib.ExitStack() as unused:
            listener = unused.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
            unused.pop_all()
    except OSError as error:
        raise OSError(f"cannot listen at {settings.host} port {settings.port}: {error}") from error
    return listener


def url(listener: socket.socket) -> str:
    """Return the URL at which `listener` is reached; of a Unix socket ``unix:`` and its path."""
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
