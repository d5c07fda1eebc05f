"""Runs the application on uvicorn, in one process or in several that share a socket."""

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
from birthmark.training.registry.versions import Registry

log = logging.getLogger(__name__)

GRACE_SECONDS = 10
"""How long requests may take to end once the service stops."""

BACKLOG = 65535
"""The listen backlog, if the system allows it.

If the backlog is full, clients retry after one second.
"""

_PATH_ERRORS = (
    PermissionError,
    FileNotFoundError,
    FileExistsError,
    NotADirectoryError,
    IsADirectoryError,
)
"""Errors of a path that last until the user corrects it, unlike a full disk."""


def run(settings: Settings, say: Callable[[str], None], config_file: Path | None = None) -> None:
    """Serve until SIGTERM or SIGINT, then end what was begun and return.

    Calls `say` with its URL once it listens. Its follower reads `config_file`, too. Raises OSError
    if it cannot listen, and ValueError if it may not, or if the registry, the tokens, the
    certificate or the log's directory are invalid.
    """
    for why in mistaken(os.environ):
        log.warning("%s", why)
    _check(settings)
    # SIGTERM ends it as Ctrl-C does. uvicorn handles both while it serves, and raises them again
    # after it has stopped.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with (
        contextlib.suppress(KeyboardInterrupt),
        listen(settings) as listener,
        followed(settings, config_file),
    ):
        say(f"Birthmark answers at {url(listener, settings.ssl_certfile is not None)}")
        if settings.workers == 1:
            Server(config(settings)).run(sockets=[listener])
        else:
            _supervise(settings, listener)


def config(settings: Settings) -> uvicorn.Config:
    """Return uvicorn's configuration for the application."""
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
        # The connections check both themselves.
        timeout_keep_alive=int(settings.idle_seconds) + 1,
        timeout_graceful_shutdown=GRACE_SECONDS,
        timeout_worker_healthcheck=BEGIN_SECONDS,
    )


def _supervise(settings: Settings, listener: socket.socket) -> None:
    """Run the workers at `listener`, and replace each that dies."""
    with tempfile.TemporaryDirectory(prefix="birthmark-workers-") as directory:
        os.environ |= {METRICS: directory, SHARED: directory}  # workers inherit them
        # A plain socket can be sent to another process; the listener is closed here.
        with socket.socket(fileno=os.dup(listener.fileno())) as shared:
            workers = Workers(config(settings), [shared])
            workers.run()
        if any(worker.exitcode == STARTUP_FAILURE for worker in workers.processes):
            raise OSError("a worker could not start; its log says why")


def _check(settings: Settings) -> None:
    """Raise OSError or ValueError for settings with which every worker would fail."""
    if settings.log_predictions is not None:
        _check_log(settings.log_predictions)
    if settings.tokens is not None:
        _check_tokens(settings.tokens)
    elif not settings.allow_open and settings.uds is None:
        _, _, _, _, address = _address(settings)
        if not ipaddress.ip_address(str(address[0]).partition("%")[0]).is_loopback:
            raise ValueError(
                f"{settings.host}: other hosts could connect there without a token; expected"
                " --tokens FILE, or --allow-open to allow that"
            )
    tls.context(settings)
    if (missing := Registry(settings.registry).missing()) is not None:
        raise ValueError(
            f"{missing}: expected a registry, which birthmark train makes, or an empty directory"
        )


def _check_tokens(path: Path) -> None:
    try:
        tokens.read(path)
    except OSError as error:
        raise ValueError(f"{path}: expected a file of tokens: {error.strerror}") from error


def _check_log(directory: Path) -> None:
    """Raise ValueError if predictions can never be logged; log an error if they cannot be now."""
    try:
        durable.check_writable(directory)
    except _PATH_ERRORS as error:
        raise ValueError(
            f"{directory}: expected a directory to log predictions in: {error.strerror}"
        ) from error
    except OSError as error:
        log.error("predictions are served but not logged: %s", error)


def listen(settings: Settings) -> socket.socket:
    """Return a socket that listens at the address of the settings."""
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
    """Return the first address of the host's name, with its protocol.

    asyncio sets TCP_NODELAY only on a socket whose protocol is TCP.
    """
    return socket.getaddrinfo(
        settings.host, settings.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
    )[0]  # type: ignore[return-value]


def url(listener: socket.socket, tls: bool = False) -> str:
    """Return the URL of `listener`; for a Unix socket ``unix:`` and its path."""
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    host, port = listener.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
