"""The application on uvicorn, in one process or in several that share a socket."""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import signal
import socket
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import uvicorn
from uvicorn.config import STARTUP_FAILURE

from birthmark.data.common import durable
from birthmark.serving.access import tokens
from birthmark.serving.http import tls
from birthmark.serving.http.connections import Connection
from birthmark.serving.http.unix_listener import UnixListener
from birthmark.serving.metrics.multiprocess import METRICS
from birthmark.serving.models.shared_images import SHARED
from birthmark.serving.settings import Settings, mistaken
from birthmark.serving.workers.follower import followed
from birthmark.serving.workers.supervisor import BEGIN_SECONDS, Server, Workers
from birthmark.serving.workers.worker import application

log = logging.getLogger(__name__)

GRACE_SECONDS = 10
"""How long requests may take to end once the service is told to stop."""

BACKLOG = 65535
"""How many connections may wait to be taken, where the system allows as many.

Who finds no place waits a second until it tries again.
"""

_MISTAKES = (
    PermissionError,
    FileNotFoundError,
    FileExistsError,
    NotADirectoryError,
    IsADirectoryError,
)
"""What is wrong with a path until somebody mends that, unlike a full disk."""


def run(settings: Settings, say: Callable[[str], None]) -> None:
    """Serve until SIGTERM or SIGINT, then end what was begun and return.

    Tells its URL to `say` once connections are taken. Raises OSError where it cannot listen, and
    ValueError where it may not, or for tokens, a certificate or a log's directory that are none.
    """
    for why in mistaken(os.environ):
        log.warning("%s", why)
    _check(settings)
    # SIGTERM ends it as Ctrl-C does. uvicorn takes both while it serves, and raises them again
    # when it has stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        contextlib.suppress(KeyboardInterrupt),
        listen(settings) as listener,
        followed(settings),
    ):
        say(f"Birthmark answers at {url(listener, settings.ssl_certfile is not None)}")
        if settings.workers == 1:
            Server(config(settings)).run(sockets=[listener])
        else:
            _supervise(settings, listener)


def config(settings: Settings) -> uvicorn.Config:
    """Return how uvicorn is to run the application."""
    return uvicorn.Config(
        partial(application, settings, os.getpid()),
        factory=True,
        http=Connection,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        workers=settings.workers,
        # Both are looked after by the connections themselves.
        timeout_keep_alive=int(settings.idle_seconds) + 1,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=BEGIN_SECONDS,
    )


def _supervise(settings: Settings, listener: socket.socket) -> None:
    """Keep as many workers at `listener` as wanted, and replace one that dies."""
    with tempfile.TemporaryDirectory(prefix="birthmark-workers-") as directory:
        os.environ |= {METRICS: directory, SHARED: directory}  # workers inherit them
        # Of a plain type, which goes to another process; the listener itself stays to be closed.
        with socket.socket(fileno=os.dup(listener.fileno())) as shared:
            workers = Workers(config(settings), [shared])
            workers.run()
        if any(each.exitcode == STARTUP_FAILURE for each in workers.processes):
            raise OSError("a worker could not start; its log says why")


def _check(settings: Settings) -> None:
    """Raise OSError or ValueError for what would otherwise fail in every worker."""
    if settings.log_predictions is not None:
        _check_log(settings.log_predictions)
    if settings.tokens is not None:
        _check_tokens(settings.tokens)
    elif not settings.allow_open and settings.uds is None:
        _, _, _, _, address = _address(settings)
        if not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
            raise ValueError(
                f"{settings.host}: other hosts could ask there without a token; expected --tokens"
                " FILE, or --allow-open where everybody may"
            )
    tls.context(settings)


def _check_tokens(path: Path) -> None:
    try:
        tokens.read(path)
    except _MISTAKES as error:
        raise ValueError(f"{path}: expected a file of tokens: {error.strerror}") from error


def _check_log(directory: Path) -> None:
    """Raise ValueError where predictions can never be logged; tell where they cannot be now."""
    try:
        durable.check_writable(directory)
    except _MISTAKES as error:
        raise ValueError(
            f"{directory}: expected a directory to log predictions in: {error.strerror}"
        ) from error
    except OSError as error:
        log.error("predictions are served, but not logged: %s", error)


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens where the settings say; connections wait in it."""
    if settings.uds is not None:
        return UnixListener(settings.uds, BACKLOG)
    try:
        family, kind, protocol, _, address = _address(settings)
        with contextlib.ExitStack() as unused:
            listener = unused.enter_context(socket.socket(family, kind, protocol))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
            unused.pop_all()
    except OSError as error:
        raise OSError(f"cannot listen at {settings.host} port {settings.port}: {error}") from error
    return listener


def _address(
    settings: Settings,
) -> tuple[socket.AddressFamily, socket.SocketKind, int, str, tuple[str | int, ...]]:
    """Return the first address of the host's name, with its protocol named.

    asyncio sends at once, without waiting for acknowledgements, only where a socket says that it is
    TCP.
    """
    return socket.getaddrinfo(
        settings.host, settings.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
    )[0]  # type: ignore[return-value]


def url(listener: socket.socket, tls: bool = False) -> str:
    """Return the URL at which `listener` is reached; of a Unix socket ``unix:`` and its path."""
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    host, port = listener.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
