"""Connections over TLS, which count from the moment that they are made.

The event loop would agree upon TLS before it tells of a connection: who connects and says nothing
would be counted nowhere.
"""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from contextlib import suppress
from typing import Any

from serving.connections import Connection
from serving.limits import Limits
from serving.settings import Settings


def context(settings: Settings) -> ssl.SSLContext | None:
    """Return what TLS is agreed upon with; None where it is not spoken.

    Raises ValueError for what is no certificate and its key.
    """
    if settings.ssl_certfile is None or settings.ssl_keyfile is None:
        return None
    try:
        found = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        found.load_cert_chain(settings.ssl_certfile, settings.ssl_keyfile)
    except OSError as error:
        place = f"{settings.ssl_certfile}, {settings.ssl_keyfile}"
        raise ValueError(f"{place}: expected a certificate and its key: {error}") from error
    return found


class Arriving(asyncio.Protocol):
    """A connection until TLS is agreed upon; then a `Connection` takes its place.

    Where there are too many it is not closed itself, but who has been arriving longest.
    """

    def __init__(self, app_state: dict[str, Any], **others: Any) -> None:
        self._known = {"app_state": app_state, **others}
        self._limits: Limits = app_state["limits"]
        self._context: ssl.SSLContext = app_state["tls"]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the socket, and begin to agree."""
        theirs = transport.get_extra_info("socket")
        self._socket = socket.socket(fileno=os.dup(theirs.fileno()))
        self._socket.setblocking(False)
        transport.abort()  # type: ignore[attr-defined]
        self._limits.make_room()
        self._limits.arriving[self] = None
        self._task = asyncio.get_running_loop().create_task(self._agree())

    async def _agree(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            with suppress(OSError):  # the client left, or took too long, or speaks no TLS
                await loop.connect_accepted_socket(
                    lambda: _Arrived(self, **self._known),
                    self._socket,
                    ssl=self._context,
                    ssl_handshake_timeout=self._limits.settings.timeout_seconds,
                )
        finally:
            self.arrived()

    def arrived(self) -> None:
        """Count no more as arriving."""
        self._limits.arriving.pop(self, None)

    def leave(self) -> None:
        """Make room for others."""
        self.arrived()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class _Arrived(Connection):
    """A connection that was `Arriving` until it is made."""

    def __init__(self, before: Arriving, **known: Any) -> None:
        super().__init__(**known)
        self._before = before

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._before.arrived()
        super().connection_made(transport)
