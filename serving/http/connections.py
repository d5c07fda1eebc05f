"""HTTP connections with limits on their number, their time and their requests.

uvicorn's protocol on httptools has none of these. A request costs a few attributes more: once a
second `check_connections` finds the connections that have timed out.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.protocols.utils import get_local_addr

from birthmark.serving.http.parsing import Flow, Parsing
from birthmark.serving.limits.limits import Limits
from birthmark.serving.messages.error_responses import raw
from birthmark.serving.messages.errors import ApiError

PIPELINED = 64
"""The most pipelined requests that may wait on one connection."""

LOOK_SECONDS = 1.0
"""The interval at which timeouts are checked."""

_CONTINUE = b"HTTP/1.1 100"
_SMALL = 64 * 1024  # copying more takes longer than a second system call

# Reply to malformed HTTP but do not log it: the log could fill the disk.
_log = logging.getLogger(__name__)
_log.setLevel(logging.ERROR)


class Connection(Parsing):
    """A connection; requests find it as ``scope["connection"]``.

    ``scope["arrived"]`` is when the request's head was complete. A refused request gets its answer
    in order, and the connection reads nothing after it.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = _log
        self.limits: Limits = self.app_state["limits"]
        self.limits.open = self.connections
        self.handshake: Any = None
        self._last_activity = time.monotonic()
        self._request_complete = True
        self._shed_now = False
        self._blocked: float | None = None
        self._closing = False

    @property
    def idle(self) -> bool:
        """Whether every request is answered, and none is being received."""
        return self._request_complete and self._answered

    @property
    def _answered(self) -> bool:
        """Whether every request whose head is complete has been answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Open the connection; if there are too many, close another to make room.

        uvicorn's method also looks up the addresses, which takes as long as all the rest. Here
        `address` looks one up when it is needed.
        """
        self.limits.handshakes.discard(self.handshake)
        self.connections.add(self)
        self.transport = transport
        self.flow = Flow(transport)
        self.scheme = "http" if self.app_state["tls"] is None else "https"
        if self.limits.make_room():
            self.limits.idle[self] = None
        else:
            self.refuse(self.limits.overloaded("the limit of connections is reached"))

    @property
    def address(self) -> str | None:
        """The local address that the client connected to; None for a Unix socket."""
        local = get_local_addr(self.transport)
        return None if local is None or local[1] is None else local[0]

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop the connection from the limits."""
        self.limits.idle.pop(self, None)
        self.limits.sending.pop(self, None)
        super().connection_lost(exc)

    def parse(self, data: bytes) -> None:
        """Parse the data, unless a request was refused."""
        if not self._closing:
            self._shed_now = False
            super().parse(data)

    def on_message_begin(self) -> None:
        """Record the start of a request."""
        super().on_message_begin()
        self.limits.idle.pop(self, None)
        self.limits.sending[self] = None
        self._last_activity = time.monotonic()
        self._request_complete = False

    def head_error(self) -> ApiError | None:
        """Return the error of a head that is malformed or has too many requests before it."""
        if len(self.pipeline) >= PIPELINED:
            return self.limits.overloaded(f"{PIPELINED} requests wait on this connection")
        if self._shed_now:
            return self.limits.overloaded("other requests of this connection were refused")
        return super().head_error()

    def begin(self) -> None:
        """Begin a request, or shed it if the queue is full."""
        if self.limits.queued >= self.limits.settings.max_requests and self._answered:
            self._shed()
            return
        self.scope["connection"] = self  # type: ignore[typeddict-unknown-key]
        self.scope["arrived"] = time.monotonic()  # type: ignore[typeddict-unknown-key]
        super().begin()
        if self.scope["method"] != "HEAD":  # has no body
            self.cycle.transport = _HeadBodyCoalescer(self.transport)  # type: ignore[assignment]
        if self.limits.stopping.is_set():
            self.cycle.keep_alive = False

    def _shed(self) -> None:
        """Answer a request with 503 at once; do not read its body."""
        self._shed_now = True
        self.limits.count_shed(1)
        plain = not self.expect_100_continue and self.parser.get_method() != b"HEAD"
        keep = plain and self._keeps_alive()
        self.transport.write(self.limits.busy[keep])
        self.cycle = _SHED_CYCLE
        if not keep:
            self._closing = True
            self.transport.close()

    def _keeps_alive(self) -> bool:
        return self.parser.get_http_version() != "1.0" and bool(self.parser.should_keep_alive())

    def _start_asgi_task(self, cycle: RequestResponseCycle | _Refusal, app: Any) -> None:
        if isinstance(cycle, _Refusal):
            cycle.answer()
        else:
            self.limits.queued += 1
            super()._start_asgi_task(cycle, app)

    def end(self) -> None:
        """Record that a request is complete."""
        self._request_complete = True
        self.limits.sending.pop(self, None)
        super().end()
        self._mark_idle()

    def on_response_complete(self) -> None:
        """Record since when the connection may be idle."""
        self._last_activity = time.monotonic()
        super().on_response_complete()
        self._mark_idle()

    def _mark_idle(self) -> None:
        if self.idle and not self.transport.is_closing():
            self.limits.idle[self] = None

    def pause_writing(self) -> None:
        """Record since when the client does not read its answer."""
        self._blocked = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Record that the client reads again."""
        self._blocked = None
        super().resume_writing()

    def shutdown(self) -> None:
        """Wake the parked requests, as the service stops."""
        self.limits.stopping.set()
        super().shutdown()

    def check(self, now: float) -> None:
        """Close the connection if it has timed out."""
        settings = self.limits.settings
        late = now - self._last_activity > settings.timeout_seconds
        if self.transport.is_closing():  # the client does not read the rest
            if self._blocked is None:
                self._blocked = now
            if now - self._blocked > settings.timeout_seconds:
                self.transport.abort()
        elif self._blocked is not None and now - self._blocked > settings.timeout_seconds:
            self.transport.abort()
        elif not self._request_complete and late and not self._closing:
            limit = settings.timeout_seconds
            self.refuse(ApiError("too_slow", f"expected the whole request within {limit} s"))
        elif self.idle and now - self._last_activity > settings.idle_seconds:
            self.transport.close()

    def refuse(self, error: ApiError) -> None:
        """Answer the request being received with an error, after earlier answers; then close.

        If its answer has begun already, only close.
        """
        if self._closing or self.transport.is_closing():
            return
        self._closing = True
        refusal = _Refusal(self.transport, error)
        sending = not self._request_complete and not self.reading_head
        if sending and self.pipeline and self.pipeline[0][0] is self.cycle:
            self.pipeline[0] = refusal, self.app  # type: ignore[assignment]
        elif not sending and not self._answered:
            self.pipeline.appendleft((refusal, self.app))  # type: ignore[arg-type]
        elif sending and self.cycle.response_started:
            self.transport.close()
        else:
            refusal.answer()


class _HeadBodyCoalescer:
    """Sends the head of an answer together with the first part of its body.

    It saves a system call, which is a tenth of an answer's time.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head: bytes | None = None
        self.is_closing = transport.is_closing

    def write(self, data: bytes) -> None:
        if self._head is None:
            if data.startswith(_CONTINUE):
                self._transport.write(data)
            else:
                self._head = data
        elif self._head and len(data) < _SMALL:
            self._transport.write(self._head + data)
            self._head = b""
        else:
            self._flush()
            self._transport.write(data)

    def close(self) -> None:
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._head:
            self._transport.write(self._head)
            self._head = b""


class _Refusal:
    """An error in the pipeline of requests; the connection is closed after it."""

    def __init__(self, transport: asyncio.Transport, error: ApiError) -> None:
        self._transport = transport
        self._error = error

    def answer(self) -> None:
        self._transport.write(raw(self._error))
        self._transport.close()


class _ShedCycle:
    """The cycle of a request that was answered without being begun."""

    response_started = response_complete = True
    message_event = asyncio.Event()
    keep_alive = True


_SHED_CYCLE: Any = _ShedCycle()


def check_connections(limits: Limits) -> None:
    """Look at every connection: called every `LOOK_SECONDS`."""
    now = time.monotonic()
    for each in list(limits.open):
        if isinstance(each, Connection):
            each.check(now)
    if limits.acceptor is not None:
        limits.acceptor.check()
