"""Connections as they are taken: counted from the first moment, let in once they send something.

An event loop takes one connection each time around, between its answers, and agrees upon TLS with
it before it tells of it. Where many come at once they would wait for long before anybody looks at
them, and who says nothing would be counted nowhere. So a thread takes them (``native/lobby``).
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress

from birthmark.serving.http.connections import Connection
from birthmark.serving.limits.limits import Limits
from birthmark_native import Lobby as Taking

READY = 4
"""How many connections that have said something may wait, for each request that may be worked on.

They are let in within tens of milliseconds; what they ask may still get 503.
"""


class Lobby:
    """Takes connections at `listener`, in turn with other processes that do.

    `make` makes a `Connection` of one that is let in, which speaks TLS by `context`, if any. It
    stands for an `asyncio.Server`, of which it has what is needed to stop.
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
        self._taking = Taking(
            os.dup(listener.fileno()),
            connections=limits.connections,
            ready=READY * settings.max_requests,
            idle_seconds=settings.idle_seconds,
            busy=b"" if context else limits.busy[False],
        )
        self._loop.add_reader(self._taking.fileno(), self._let_in)
        limits.lobby = self

    def _let_in(self) -> None:
        """Let in as many as may wait to be answered; others may be when these are."""
        room = self._limits.settings.max_requests - self._limits.queued
        for descriptor in self._taking.let_in(max(room, 0)):
            Arriving(descriptor, self._make, self._limits, self._context)
        self.look()

    def look(self) -> None:
        """Tell each other how many are inside, and how many were refused."""
        self._taking.inside(len(self._limits.open) + len(self._limits.arriving))
        self._limits.shed(self._taking.take_refused())

    def close(self) -> None:
        """Take no more connections; those that have sent something are let in and answered."""
        self._limits.stopping.set()
        self._limits.lobby = None
        self._loop.remove_reader(self._taking.fileno())
        for descriptor in self._taking.let_in(READY * self._limits.settings.max_requests):
            Arriving(descriptor, self._make, self._limits, self._context)
        self._limits.shed(self._taking.take_refused())
        self._taking.close()

    async def wait_closed(self) -> None:
        """Return: nothing is left to be done."""


class Arriving:
    """A connection that was let in, until TLS is agreed upon and a `Connection` is made of it."""

    def __init__(
        self,
        descriptor: int,
        make: Callable[[], Connection],
        limits: Limits,
        context: ssl.SSLContext | None,
    ) -> None:
        self._limits = limits
        self._socket = socket.socket(fileno=descriptor)
        limits.make_room()
        limits.arriving[self] = None
        self._task = asyncio.get_running_loop().create_task(self._arrive(make, context))

    async def _arrive(self, make: Callable[[], Connection], context: ssl.SSLContext | None) -> None:
        def made() -> Connection:
            connection = make()
            connection.arriving = self
            return connection

        limit = self._limits.settings.timeout_seconds if context else None
        try:
            with suppress(OSError):  # the client left, or took too long, or speaks no TLS
                await asyncio.get_running_loop().connect_accepted_socket(
                    made, self._socket, ssl=context, ssl_handshake_timeout=limit
                )
        finally:
            self._limits.arriving.pop(self, None)

    def leave(self) -> None:
        """Make room for others."""
        self._limits.arriving.pop(self, None)
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
