"""Accepts connections in a native thread, and passes on those that have sent something.

An event loop accepts one connection per iteration, between answers, and reports it only after the
TLS handshake. In a burst, connections would wait long, and silent ones would not be counted. So a
thread accepts them (``native/acceptor``).
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from birthmark.serving.http.connections import Connection
from birthmark.serving.limits.limits import READY, Limits
from birthmark_native import Acceptor as NativeAcceptor


class Acceptor:
    """Accepts connections at `listener`, which other processes may share.

    `make` makes the `Connection` for an accepted one; `context` is for TLS, if any. It takes the
    place of an `asyncio.Server` and has the methods needed to stop one.
    """

    def __init__(
        self,
        listener: socket.socket,
        make: Callable[[], Connection],
        limits: Limits,
        context: ssl.SSLContext | None,
    ) -> None:
        settings = limits.settings
        self._make, self._limits, self._context = make, limits, context
        self._loop = asyncio.get_running_loop()
        self._native = NativeAcceptor(
            os.dup(listener.fileno()),
            connections=limits.connections,
            ready=READY * settings.max_requests,
            idle_seconds=settings.idle_seconds,
            busy=b"" if context else limits.busy[False],
            tls=context is not None,
        )
        self._loop.add_reader(self._native.fileno(), self._accept_ready)
        limits.acceptor = self

    def _accept_ready(self) -> None:
        """Accept as many ready connections as requests may be queued."""
        free = self._limits.settings.max_requests - self._limits.queued
        for descriptor, address in self._native.take_ready(max(free, 0)):
            Handshake(descriptor, address, self._make, self._limits, self._context)
        self.check()

    def check(self) -> None:
        """Report the active connections to the thread, and count those that it refused."""
        self._native.set_active_connections(len(self._limits.open) + len(self._limits.handshakes))
        self._limits.count_shed(self._native.take_refused())

    def close(self) -> None:
        """Stop accepting connections; answer those that have sent something already."""
        self._limits.stopping.set()
        self._limits.acceptor = None
        self._loop.remove_reader(self._native.fileno())
        for descriptor, address in self._native.take_ready(
            READY * self._limits.settings.max_requests
        ):
            Handshake(descriptor, address, self._make, self._limits, self._context)
        self._limits.count_shed(self._native.take_refused())
        self._native.close()

    async def wait_closed(self) -> None:
        """Return at once: `close` has done everything."""


class Handshake:
    """An accepted connection until its TLS handshake is complete and its `Connection` is made.

    ``address`` is a number for the client's host (``birthmark_native.Acceptor``).
    """

    def __init__(
        self,
        descriptor: int,
        address: int,
        make: Callable[[], Connection],
        limits: Limits,
        context: ssl.SSLContext | None,
    ) -> None:
        self._limits, self.address = limits, address
        self._socket = socket.socket(fileno=descriptor)
        limits.make_room()
        limits.handshakes.add(self)
        self._task = asyncio.get_running_loop().create_task(self._complete(make, context))

    async def _complete(
        self, make: Callable[[], Connection], context: ssl.SSLContext | None
    ) -> None:
        def make_connection() -> Connection:
            connection = make()
            connection.handshake = self
            return connection

        limit = self._limits.settings.timeout_seconds if context else None
        try:
            with suppress(OSError):  # the client left, took too long, or does not speak TLS
                await asyncio.get_running_loop().connect_accepted_socket(
                    make_connection, self._socket, ssl=context, ssl_handshake_timeout=limit
                )
        finally:
            self._limits.handshakes.discard(self)

    def close(self) -> None:
        """Close the connection to make room for others."""
        self._limits.handshakes.discard(self)
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
