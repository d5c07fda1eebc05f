"""The guard that every request passes first: its token, its size, and the worker's limits."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Asgi

from birthmark.serving.access.hosts import ChangeGuard, refuse_foreign
from birthmark.serving.access.paths import SAFE, changes, needed
from birthmark.serving.access.tokens import Tokens
from birthmark.serving.limits.limits import Limits
from birthmark.serving.messages.error_responses import response_of
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.settings import names

_REALM = 'realm="birthmark"'
CHALLENGE = f'Bearer {_REALM}, Basic {_REALM}, charset="UTF-8"'
"""Both ways to show a token (RFC 9110 section 11.6.1); browsers use the second."""


class Guard:
    """An ASGI application that passes to ``app`` the requests that are allowed and within limits.

    It refuses a request as early as it can, by its head alone where possible. ``app`` receives the
    whole body, of at most `Settings.max_body_bytes`, in one message.
    """

    def __init__(self, app: ASGIApp, limits: Limits, tokens: Tokens | None) -> None:
        self.app = app
        self.limits = limits
        self.tokens = tokens
        self._most = limits.settings.max_body_bytes
        self._changes = ChangeGuard([limits.settings.host, *names(limits.settings.known_hosts)])

    async def __call__(self, scope: Asgi, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        connection = scope.get("connection")
        if connection is not None:
            self.limits.queued -= 1
        try:
            self._check(scope)
            message = await receive()
            if message.get("more_body"):
                message = await self._read_body(message, receive, connection)
            size = len(message.get("body", b""))
            if size > self._most:
                raise self._too_large()
            self.limits.begin()
        except ApiError as error:
            await response_of(error, scope)(scope, receive, send)
            return
        try:
            semaphore = self.limits.semaphore_for(scope["path"], size)
            if semaphore is None:
                await self.app(scope, _first(message, receive), send)
            else:
                await self._queued(semaphore, scope, message, receive, send)
        finally:
            self.limits.end()
        if connection is not None and connection.flow.write_paused:
            await self._drain(connection)

    async def _queued(
        self,
        semaphore: asyncio.Semaphore,
        scope: Asgi,
        message: Message,
        receive: Receive,
        send: Send,
    ) -> None:
        """Pass on a request that needs much memory, once its semaphore is free."""
        body = message.get("body", b"")
        async with contextlib.AsyncExitStack() as stack:
            try:
                stack.enter_context(self.limits.budget.reserve(len(body)))
                await stack.enter_async_context(self.limits.acquired(semaphore))
            except ApiError as error:
                await response_of(error, scope)(scope, receive, send)
                return
            await self.app(scope, _first(message, receive), send)

    def _check(self, scope: Asgi) -> None:
        """Raise `ApiError` if the head alone is reason to refuse the request."""
        size, authorization, origin = None, b"", None
        for name, value in scope["headers"]:
            if name == b"content-length":
                size = int(value)  # digits: the parser takes nothing else
            elif name == b"authorization":
                authorization = value
            elif name == b"origin":
                origin = value
        if (arrived := scope.get("arrived")) is not None:
            self.limits.check_queue_time(time.monotonic() - arrived)
        if self.tokens is not None:
            self._authorize(self.tokens, scope, authorization)
        if changes(scope["method"], scope["path"]):
            self._changes.check(scope["headers"], _local_address(scope))
        elif origin is not None and scope["method"] not in SAFE:
            refuse_foreign(scope["headers"])
        if size is not None and size > self._most:
            raise self._too_large()

    def _authorize(self, tokens: Tokens, scope: Asgi, authorization: bytes) -> None:
        need = needed(scope["method"], scope["path"])
        if need is None:
            return
        token = tokens.token(authorization)
        if token is None:
            what = "expected a valid token" if authorization else "expected a token"
            raise ApiError("unauthorized", what, {"www-authenticate": CHALLENGE})
        if need not in token.scopes:
            challenge = f'Bearer {_REALM}, error="insufficient_scope", scope="{need}"'
            what = f"expected a token for {need}, found one for {', '.join(token.scopes)}"
            raise ApiError("forbidden", what, {"www-authenticate": challenge})

    def _too_large(self) -> ApiError:
        return ApiError("body_too_large", f"expected a body of at most {self._most} bytes")

    async def _read_body(self, message: Message, receive: Receive, connection: Any) -> Message:
        """Return the whole body in one message; reserve its bytes as they come."""
        full = self.limits.overloaded
        revoke = connection and (lambda: connection.refuse(full("others sent their bodies faster")))
        with self.limits.budget.reserve(revoke=revoke) as reservation:
            body = bytearray()
            while True:
                reservation.grow(len(message["body"]))
                body += message["body"]
                if len(body) > self._most:
                    raise self._too_large()
                if not message.get("more_body"):
                    break
                message = await receive()
                if message["type"] == "http.disconnect":
                    what = "the client left before its request was complete"
                    raise ApiError("disconnected", what)
        return {"type": "http.request", "body": bytes(body), "more_body": False}

    async def _drain(self, connection: Any) -> None:
        """Wait until the client has read its answer; abort if others need the bytes."""
        cut = connection.transport.abort
        try:
            with self.limits.budget.reserve(
                connection.transport.get_write_buffer_size(), revoke=cut
            ):
                await connection.flow.drain()
        except ApiError:
            cut()


def _local_address(scope: Asgi) -> str | None:
    """Return the local address that a request was sent to; None for a Unix socket."""
    if (connection := scope.get("connection")) is not None:
        address: str | None = connection.address
        return address
    host, port = scope.get("server") or ("", 0)
    return None if port is None else host


def _first(message: Message, receive: Receive) -> Receive:
    """Return a ``receive`` that returns `message` first, then calls the given one."""
    first: Message | None = message

    async def replay() -> Message:
        nonlocal first
        if first is None:
            return await receive()
        whole, first = first, None
        return whole

    return replay
