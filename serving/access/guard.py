"""What every request passes first: who asks, how much it is, and whether there is room."""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as Asgi

from birthmark.serving.access.hosts import Changes, refuse_foreign
from birthmark.serving.access.tokens import Scope, Tokens
from birthmark.serving.limits.limits import Limits
from birthmark.serving.messages.error_responses import response_of
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.settings import names

OPEN = frozenset({"/healthz", "/readyz"})
"""Paths that need no token: probes."""

PREDICT = frozenset({"/v1/predictions", "/v1/explanations", "/v1/hints"})
"""Paths that are for who may predict."""

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that ask for what is there (RFC 9110 section 9.2.1)."""

REPORT = "/v1/hints/report"
"""The path that is for who may report of hooks."""

HISTORY = "/v1/history"
"""The path that is for followers on other hosts."""

CHANGES = frozenset({("PUT", "/v1/model"), ("POST", REPORT), ("POST", HISTORY)})
"""What changes something."""

_REALM = 'realm="birthmark"'
CHALLENGE = f'Bearer {_REALM}, Basic {_REALM}, charset="UTF-8"'
"""Both ways to show a token (RFC 9110 section 11.6.1); browsers ask for the second."""


def needed(method: str, path: str) -> Scope | None:
    """Return the scope that a request needs; None for one that is open to all."""
    if path in OPEN:
        return None
    if path in PREDICT:
        return "predict"
    if path == REPORT:
        return "report"
    if path == HISTORY:
        return "follow"
    return "read" if method in SAFE else "publish"


class Guard:
    """An ASGI application that passes on to ``app`` the requests that are allowed and find room.

    What is refused is refused at once, by its head alone where that tells. ``app`` is called when
    the whole body is there, and receives it in one piece, of at most `Settings.max_body_bytes`.
    """

    def __init__(self, app: ASGIApp, limits: Limits, tokens: Tokens | None) -> None:
        self.app = app
        self.limits = limits
        self.tokens = tokens
        self._most = limits.settings.max_body_bytes
        self._changes = Changes([limits.settings.host, *names(limits.settings.known_hosts)])

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
                message = await self._rest(message, receive, connection)
            size = len(message.get("body", b""))
            if size > self._most:
                raise self._too_large()
            self.limits.begin()
        except ApiError as error:
            await response_of(error, scope)(scope, receive, send)
            return
        try:
            turns = self.limits.turns(scope["path"], size)
            if turns is None:
                await self.app(scope, _first(message, receive), send)
            else:
                await self._in_turn(turns, scope, message, receive, send)
        finally:
            self.limits.end()
        if connection is not None and connection.flow.write_paused:
            await self._taken(connection)

    async def _in_turn(
        self,
        turns: asyncio.Semaphore,
        scope: Asgi,
        message: Message,
        receive: Receive,
        send: Send,
    ) -> None:
        """Pass a request on that takes much memory, when those before it need theirs no more."""
        body = message.get("body", b"")
        async with contextlib.AsyncExitStack() as stack:
            try:
                stack.enter_context(self.limits.room.place(len(body)))
                await stack.enter_async_context(self.limits.turn(turns))
            except ApiError as error:
                await response_of(error, scope)(scope, receive, send)
                return
            await self.app(scope, _first(message, receive), send)

    def _check(self, scope: Asgi) -> None:
        """Raise `ApiError` where the head alone is enough to."""
        size, authorization, origin = None, b"", None
        for name, value in scope["headers"]:
            if name == b"content-length":
                size = int(value)  # digits: the parser takes nothing else
            elif name == b"authorization":
                authorization = value
            elif name == b"origin":
                origin = value
        if (arrived := scope.get("arrived")) is not None:
            self.limits.in_time(time.monotonic() - arrived)
        if self.tokens is not None:
            self._authorize(self.tokens, scope, authorization)
        if (scope["method"], scope["path"]) in CHANGES:
            self._changes.check(scope["headers"], _reached(scope))
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
            what = "expected a token that is known" if authorization else "expected a token"
            raise ApiError("unauthorized", what, {"www-authenticate": CHALLENGE})
        if need not in token.scopes:
            challenge = f'Bearer {_REALM}, error="insufficient_scope", scope="{need}"'
            what = f"expected a token for {need}, found one for {', '.join(token.scopes)}"
            raise ApiError("forbidden", what, {"www-authenticate": challenge})

    def _too_large(self) -> ApiError:
        return ApiError("body_too_large", f"expected a body of at most {self._most} bytes")

    async def _rest(self, message: Message, receive: Receive, connection: Any) -> Message:
        """Return the whole body in one message, for which there must be room as it comes."""
        full = self.limits.overloaded
        lose = connection and (lambda: connection.refuse(full("others sent their bodies faster")))
        with self.limits.room.place(lose=lose) as place:
            body = bytearray()
            while True:
                place.grow(len(message["body"]))
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

    async def _taken(self, connection: Any) -> None:
        """Wait until the client takes its answer; cut it off if others need the room for theirs."""
        cut = connection.transport.abort
        try:
            with self.limits.room.place(connection.transport.get_write_buffer_size(), lose=cut):
                await connection.flow.drain()
        except ApiError:
            cut()


def _reached(scope: Asgi) -> str | None:
    """Return the address of this host that a request reached; None of a Unix socket."""
    if (connection := scope.get("connection")) is not None:
        address: str | None = connection.address
        return address
    host, port = scope.get("server") or ("", 0)
    return None if port is None else host


def _first(message: Message, receive: Receive) -> Receive:
    """Return a ``receive`` that returns `message`, then what the one given does."""
    first: Message | None = message

    async def again() -> Message:
        nonlocal first
        if first is None:
            return await receive()
        whole, first = first, None
        return whole

    return again
