"""Runs the service: the front at its address, and the application on uvicorn behind it."""

from __future__ import annotations

import contextlib
import gc
import ipaddress
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from birthmark.data.common import durable
from birthmark.data.common.without_pandas import without_pandas
from birthmark.serving.access import tokens
from birthmark.serving.models.images import Tallies, load_images
from birthmark.serving.server import tls
from birthmark.serving.server.follower import followed
from birthmark.serving.server.front import Front
from birthmark.serving.server.private_directory import private_directory
from birthmark.serving.server.unix_listener import UnixListener
from birthmark.serving.settings import Settings, mistaken
from birthmark.training.registry.versions import Registry

if TYPE_CHECKING:  # imported once the front answers
    import uvicorn
    from starlette.types import ASGIApp

    from birthmark.serving.service.service import Service

log = logging.getLogger(__name__)

GRACE_SECONDS = 10
"""How long requests may take to end once the service stops."""

_START_POLL_SECONDS = 0.005

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

    Calls `say` with its URL once it listens. SIGHUP reads the certificate again. Its follower reads
    `config_file`, too. Raises OSError if it cannot listen or fails, and ValueError if it may not,
    or if the registry, the tokens, the certificate or the log's directory are invalid.
    """
    for why in mistaken(os.environ):
        log.warning("%s", why)
    _check(settings)
    stopped, signalled = threading.Event(), threading.Event()

    def stop(*_: object) -> None:
        signalled.set()
        stopped.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    with listen(settings) as listener, followed(settings, config_file):
        say(f"Birthmark answers at {url(listener, settings.ssl_certfile is not None)}")
        with answering(settings, listener, stopped) as front:
            signal.signal(signal.SIGHUP, lambda *_: _reload(front))
            stopped.wait()
            if not signalled.is_set():
                raise OSError("the application has ended by itself; the log says why")


def _reload(front: Front) -> None:
    try:
        front.reload_certificate()
    except ValueError as error:
        log.error("the old certificate stays: %s", error)


@contextlib.contextmanager
def answering(
    settings: Settings, listener: socket.socket, stopped: threading.Event | None = None
) -> Iterator[Front]:
    """Answer at `listener` until the block ends, or the application stops by itself (`stopped`).

    The published version's images answer while the application starts, whose import takes longest.
    Raises OSError if the application cannot start.
    """
    with private_directory() as directory:
        place, tallies = directory / "application", Tallies()
        front = Front(settings, place)
        if (first := load_images(settings, tallies)) is not None:
            front.publish(first)
            front.accept(listener)
        with _application(settings, tallies, place, stopped) as service:
            try:
                front.pass_on(service)
                if first is None:
                    front.accept(listener)
                yield front
            finally:
                front.stop(GRACE_SECONDS)


@contextlib.contextmanager
def _application(
    settings: Settings, tallies: Tallies, place: Path, stopped: threading.Event | None
) -> Iterator[Service]:
    """Serve the application at a Unix socket, `place`, until the block ends; yield its objects."""
    import uvicorn

    from birthmark.serving.app.application import create_app

    app = create_app(settings, tallies)
    server = uvicorn.Server(_config(app, place))
    thread = threading.Thread(target=_serve, args=(server, stopped), name="application")
    thread.start()
    try:
        while not server.started:
            thread.join(_START_POLL_SECONDS)
            if not thread.is_alive():
                raise OSError("the service could not start; its log says why")
        _settle()
        yield app.state.service
    finally:
        server.should_exit = True
        thread.join()


def _serve(server: uvicorn.Server, stopped: threading.Event | None) -> None:
    try:
        server.run()
    finally:
        if stopped is not None:
            stopped.set()


def _config(app: ASGIApp, place: Path) -> uvicorn.Config:
    """Return uvicorn's configuration for the application behind the front."""
    import uvicorn

    return uvicorn.Config(
        app,
        uds=str(place),
        http="h11",
        loop="asyncio",
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        # Only the front can connect, and it sets them.
        proxy_headers=True,
        forwarded_allow_ips="*",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def _settle() -> None:
    """Keep the memory of imported objects out of garbage collections, and Arrow's out of its pool.

    A collection that scans imported objects would delay requests by a tenth of a second. Arrow's
    own pool would keep the memory of earlier requests and models.
    """
    import pyarrow as pa

    with without_pandas():
        pa.array([])
    pa.set_memory_pool(pa.system_memory_pool())
    gc.collect()
    gc.freeze()


def _check(settings: Settings) -> None:
    """Raise OSError or ValueError for settings with which the service would fail."""
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
    """Return the first address of the host's name, with its protocol."""
    return socket.getaddrinfo(
        settings.host, settings.port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP
    )[0]  # type: ignore[return-value]


def url(listener: socket.socket, tls: bool = False) -> str:
    """Return the URL of `listener`; for a Unix socket ``unix:`` and its path."""
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    host, port = listener.getsockname()[:2]
    return f"{'https' if tls else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
