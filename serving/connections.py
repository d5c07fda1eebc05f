"""HTTP connections with limits of their own: how many, how long, how much of a head.

uvicorn's protocol on httptools has none of these. Nothing here costs a request more than a few
attributes: a look around, once a second, finds the connections whose time is over.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

import httptools
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.protocols.utils import get_local_addr

from serving import hosts
from serving.errors import ApiError, raw
from serving.limits import Limits

HEAD_BYTES = 16 * 1024
"""The longest head of a request, its line and its header fields; and the longest trailer."""

FIELDS = 100
"""The most header fields of a request, and the most fields of its trailer."""

AT_ONCE = 32 * 1024
"""Bytes that are parsed before others have their turn: they may be thousands of small chunks."""

PIPELINED = 64
"""The most requests that may wait on one connection for the answers before them."""

LOOK_SECONDS = 1.0

_OFFERS = frozenset({b"upgrade", b"http2-settings"})
"""Header fields that offer another protocol, and what ``Connection`` calls them by."""

# What is no HTTP is told to who sent it; told to the log as well, it could fill the disk.
_log = logging.getLogger(__name__)
_log.setLevel(logging.ERROR)


class Connection(HttpToolsProtocol):
    """A connection; its ``scope["connection"]`` is it, and ``scope["arrived"]`` the head's time.

    What is refused gets its answer in its turn, and nothing that comes after it is read.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = _log
        self.limits: Limits = self.app_state["limits"]
        self.limits.open = self.connections
        self.arriving: Any = None
        self._mark = time.monotonic()
        self._head = False
        self._whole = True
        self._fed = 0
        self._went_on = False
        self._hosts: list[bytes] = []
        self._trailers = 0
        self._late = b""
        self._shed_now = False
        self._blocked: float | None = None
        self._refusal: ApiError | None = None
        self._deaf = False

    @property
    def idle(self) -> bool:
        """Whether nothing was asked that is not answered, and nothing is being asked."""
        return self._whole and self._answered

    @property
    def _answered(self) -> bool:
        """Whether every request whose head is whole has been answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection; where there are too many, in the place of an idle one.

        As uvicorn's does, but that nobody is asked for addresses, which takes as long as all else:
        `address` asks for one.
        """
        self.limits.arriving.pop(self.arriving, None)
        self.connections.add(self)
        self.transport = transport
        self.flow: _Flow = _Flow(transport)
        self.scheme = "http" if self.app_state["tls"] is None else "https"
        if self.limits.make_room():
            self.limits.idle[self] = None
        else:
            self.refuse(self.limits.overloaded("as many connections are open as may be"))

    @property
    def address(self) -> str | None:
        """The address of this host that the client reached; None of a Unix socket."""
        local = get_local_addr(self.transport)
        return None if local is None or local[1] is None else local[0]

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.limits.idle.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, a part at a time."""
        if self._late:  # TLS may have more that was read before
            self._late += data
        else:
            self._parse(data)

    def _go_on(self) -> None:
        data, self._late = self._late, b""
        if self.parser is not None and not self.transport.is_closing():
            self._parse(data)
            if not self._late:
                self.flow.let_go()

    def _parse(self, data: bytes) -> None:
        """Parse the first of it; refuse a head, or a trailer, that goes on and on."""
        if self._deaf:
            return
        if len(data) > AT_ONCE:
            data, self._late = data[:AT_ONCE], data[AT_ONCE:]
            self.flow.hold()
            self.loop.call_soon(self._go_on)
        self._unset_keepalive_if_required()
        self._fed += len(data)
        self._went_on = False
        self._shed_now = False
        try:
            self._feed(data)
        except httptools.HttpParserError:
            self.refuse(self._refusal or ApiError("invalid_http", "expected an HTTP request"))
        if self._went_on:
            self._fed = 0
        elif self._fed > HEAD_BYTES:
            self.refuse(_too_large(f"expected a head, or a trailer, of at most {HEAD_BYTES} bytes"))

    def _feed(self, data: bytes) -> None:
        """Parse; a protocol that a request offers to go over to is ignored (RFC 9110 section 7.8).

        The parser takes what follows such a head for the other protocol. So the request is parsed
        again, without its offer.
        """
        while data:
            try:
                self.parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as offer:
                data = data[offer.args[0] :]
            if self.parser.get_method() == b"CONNECT":
                allowed = {"allow": "GET, HEAD, POST, PUT"}
                self.refuse(ApiError("method_not_allowed", "this is no proxy", allowed))
                return
            head = self._without_offer()
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            self.parser.feed_data(head)

    def _without_offer(self) -> bytes:
        method, version = self.parser.get_method(), self.parser.get_http_version()
        lines = [b"%b %b HTTP/%b" % (method, self.url, version.encode())]
        for name, value in self.headers:
            if name == b"connection":
                options = (option.strip() for option in value.split(b","))
                value = b", ".join(each for each in options if each.lower() not in _OFFERS)
            if name not in _OFFERS:
                lines.append(b"%b: %b" % (name, value))
        return b"\r\n".join([*lines, b"", b""])

    def on_message_begin(self) -> None:
        """Note when a request began."""
        super().on_message_begin()
        self.limits.idle.pop(self, None)
        self._mark = time.monotonic()
        self._head = True
        self._whole = False
        self._hosts = []
        self._trailers = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header field; one of a trailer is not looked at (RFC 9110 section 6.5.1)."""
        name = name.lower()
        if not self._head:
            self._trailers += 1
            if self._trailers > FIELDS:
                self._refusal = _too_large(f"expected at most {FIELDS} fields in a trailer")
                raise self._refusal
            return
        if name == b"host":
            self._hosts.append(value)
        elif name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Begin the request, unless its head is wrong or too many wait before it."""
        self._went_on = True
        if self.parser.should_upgrade():
            return  # it is parsed again
        # What is raised here the parser catches, and raises an error of its own.
        self._refusal = self._wrong_with_head()
        if self._refusal is not None:
            raise self._refusal
        self._head = False
        if self.limits.queued >= self.limits.settings.max_requests and self._answered:
            self._shed()
            return
        self.scope["connection"] = self  # type: ignore[typeddict-unknown-key]
        self.scope["arrived"] = time.monotonic()  # type: ignore[typeddict-unknown-key]
        super().on_headers_complete()
        if self.limits.stopping.is_set():
            self.cycle.keep_alive = False

    def _wrong_with_head(self) -> ApiError | None:
        if len(self._hosts) != 1 and (self._hosts or self.parser.get_http_version() == "1.1"):
            return ApiError("invalid_http", f"expected one Host, found {len(self._hosts)}")
        if self._hosts and not hosts.is_valid(self._hosts[0]):
            return ApiError("invalid_http", "expected a host's name or number, and a port, as Host")
        if len(self.headers) > FIELDS:
            return _too_large(f"expected at most {FIELDS} header fields")
        if len(self.pipeline) >= PIPELINED:
            return self.limits.overloaded(f"{PIPELINED} requests wait on this connection")
        if self._shed_now:
            return self.limits.overloaded("other requests of this connection were turned away")
        if self._fed > HEAD_BYTES:
            size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if size > HEAD_BYTES:
                return _too_large(f"expected a head of at most {HEAD_BYTES} bytes")
        return None

    def _shed(self) -> None:
        """Answer a request at once that could not be begun soon; do not read its body."""
        self._shed_now = True
        self.limits.shed(1)
        plain = not self.expect_100_continue and self.parser.get_method() != b"HEAD"
        keep = plain and self._keeps_alive()
        self.transport.write(self.limits.busy[keep])
        self.cycle = _ANSWERED
        if not keep:
            self._deaf = True
            self.transport.close()

    def _keeps_alive(self) -> bool:
        return self.parser.get_http_version() != "1.0" and bool(self.parser.should_keep_alive())

    def _start_asgi_task(self, cycle: RequestResponseCycle | _Refusal, app: Any) -> None:
        if isinstance(cycle, _Refusal):
            cycle.answer()
        else:
            self.limits.queued += 1
            super()._start_asgi_task(cycle, self._begin)  # type: ignore[arg-type]

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.limits.queued -= 1
        await self.app(scope, receive, send)

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._went_on = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Note that a request is whole."""
        if self.parser.should_upgrade():
            return
        self._went_on = True
        self._whole = True
        super().on_message_complete()
        self._rest_if_idle()

    def on_response_complete(self) -> None:
        """Note since when the connection may be idle."""
        self._mark = time.monotonic()
        super().on_response_complete()
        self._rest_if_idle()

    def _rest_if_idle(self) -> None:
        if self.idle and not self.transport.is_closing():
            self.limits.idle[self] = None

    def pause_writing(self) -> None:
        """Note since when the client does not take what it was sent."""
        self._blocked = time.monotonic()
        super().pause_writing()

    def resume_writing(self) -> None:
        """Forget it."""
        self._blocked = None
        super().resume_writing()

    def shutdown(self) -> None:
        """Tell those that wait for something to happen that nothing will."""
        self.limits.stopping.set()
        super().shutdown()

    def look(self, now: float) -> None:
        """End the connection if its time is over."""
        settings = self.limits.settings
        late = now - self._mark > settings.timeout_seconds
        if self.transport.is_closing():  # what is left to be sent is not taken
            if self._blocked is None:
                self._blocked = now
            if now - self._blocked > settings.timeout_seconds:
                self.transport.abort()
        elif self._blocked is not None and now - self._blocked > settings.timeout_seconds:
            self.transport.abort()
        elif not self._whole and late and not self._deaf:
            limit = settings.timeout_seconds
            self.refuse(ApiError("too_slow", f"expected the whole request within {limit} s"))
        elif self.idle and now - self._mark > settings.idle_seconds:
            self.transport.close()

    def refuse(self, error: ApiError) -> None:
        """Answer what is being sent with an error, after the answers before it; then close.

        A request that is being answered already is cut off.
        """
        if self._deaf or self.transport.is_closing():
            return
        self._deaf = True
        refusal = _Refusal(self.transport, error)
        sending = not self._whole and not self._head
        if sending and self.pipeline and self.pipeline[0][0] is self.cycle:
            self.pipeline[0] = refusal, self.app  # type: ignore[assignment]
        elif not sending and not self._answered:
            self.pipeline.appendleft((refusal, self.app))  # type: ignore[arg-type]
        elif sending and self.cycle.response_started:
            self.transport.close()
        else:
            refusal.answer()


class _Flow(FlowControl):
    """uvicorn's flow control, but that reading may be held, whoever would resume it."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport)
        self._held = self._wanted = False

    def hold(self) -> None:
        """Stop reading until it is let go."""
        if not self._held:
            self._held, self._wanted = True, not self.read_paused
            super().pause_reading()

    def let_go(self) -> None:
        """Read on, unless it is to pause for another reason."""
        self._held = False
        if self._wanted:
            super().resume_reading()

    def pause_reading(self) -> None:
        """Stop reading."""
        self._wanted = False
        super().pause_reading()

    def resume_reading(self) -> None:
        """Read on, now or when it is let go."""
        self._wanted = True
        if not self._held:
            super().resume_reading()


class _Refusal:
    """Stands among the requests that wait for their answers: an error, after which it closes."""

    def __init__(self, transport: asyncio.Transport, error: ApiError) -> None:
        self._transport = transport
        self._error = error

    def answer(self) -> None:
        self._transport.write(raw(self._error))
        self._transport.close()


class _Answered:
    """Stands for a request that was answered without being begun."""

    response_started = response_complete = True
    message_event = asyncio.Event()
    keep_alive = True


_ANSWERED: Any = _Answered()


def _too_large(message: str) -> ApiError:
    return ApiError("head_too_large", message)


async def look_after(limits: Limits) -> None:
    """Look at every connection once a second, for ever."""
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        now = time.monotonic()
        for each in list(limits.open):
            if isinstance(each, Connection):
                each.look(now)
        if limits.lobby is not None:
            limits.lobby.look()
