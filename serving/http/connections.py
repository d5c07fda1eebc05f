"""HTTP connections with limits of their own: how many, how long, how many requests.

uvicorn's protocol on httptools has none of these. Nothing here costs a request more than a few
attributes: a look around, once a second, finds the connections whose time is over.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
from uvicorn.protocols.utils import get_local_addr

from birthmark.serving.http.flow_control import Flow
from birthmark.serving.http.parsing import Parsing
from birthmark.serving.limits.limits import Limits
from birthmark.serving.messages.error_responses import raw
from birthmark.serving.messages.errors import ApiError

PIPELINED = 64
"""The most requests that may wait on one connection for the answers before them."""

LOOK_SECONDS = 1.0
"""How late it may be noticed that a limit of time has passed."""


_CONTINUE = b"HTTP/1.1 100"
_SMALL = 64 * 1024  # what is longer takes longer to copy than to send by itself

# What is no HTTP is told to who sent it; told to the log as well, it could fill the disk.
_log = logging.getLogger(__name__)
_log.setLevel(logging.ERROR)


class Connection(Parsing):
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
        self._whole = True
        self._shed_now = False
        self._blocked: float | None = None
        self._deaf = False

    @property
    def idle(self) -> bool:
        """Whether every request is answered, and none is on its way in."""
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
        self.flow = Flow(transport)
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
        self.limits.sending.pop(self, None)
        super().connection_lost(exc)

    def parse(self, data: bytes) -> None:
        """Parse what came, unless something was refused."""
        if not self._deaf:
            self._shed_now = False
            super().parse(data)

    def on_message_begin(self) -> None:
        """Note when a request began."""
        super().on_message_begin()
        self.limits.idle.pop(self, None)
        self.limits.sending[self] = None
        self._mark = time.monotonic()
        self._whole = False

    def wrong_with_head(self) -> ApiError | None:
        """Return why a head is refused: it is wrong, or too many wait before it."""
        if len(self.pipeline) >= PIPELINED:
            return self.limits.overloaded(f"{PIPELINED} requests wait on this connection")
        if self._shed_now:
            return self.limits.overloaded("other requests of this connection were turned away")
        return super().wrong_with_head()

    def begin(self) -> None:
        """Begin a request, unless it would wait for long."""
        if self.limits.queued >= self.limits.settings.max_requests and self._answered:
            self._shed()
            return
        self.scope["connection"] = self  # type: ignore[typeddict-unknown-key]
        self.scope["arrived"] = time.monotonic()  # type: ignore[typeddict-unknown-key]
        super().begin()
        if self.scope["method"] != "HEAD":  # of which there is no body
            self.cycle.transport = _Together(self.transport)  # type: ignore[assignment]
        if self.limits.stopping.is_set():
            self.cycle.keep_alive = False

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
            super()._start_asgi_task(cycle, app)

    def end(self) -> None:
        """Note that a request is whole."""
        self._whole = True
        self.limits.sending.pop(self, None)
        super().end()
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
        """Wake the requests that wait for something to happen: nothing will."""
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
        sending = not self._whole and not self.head
        if sending and self.pipeline and self.pipeline[0][0] is self.cycle:
            self.pipeline[0] = refusal, self.app  # type: ignore[assignment]
        elif not sending and not self._answered:
            self.pipeline.appendleft((refusal, self.app))  # type: ignore[arg-type]
        elif sending and self.cycle.response_started:
            self.transport.close()
        else:
            refusal.answer()


class _Together:
    """Sends the head of an answer together with the first of its body.

    Sent apart each takes a system call of its own, which is a tenth of what an answer takes.
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


def look_after(limits: Limits) -> None:
    """Look at every connection: called every `LOOK_SECONDS`."""
    now = time.monotonic()
    for each in list(limits.open):
        if isinstance(each, Connection):
            each.look(now)
    if limits.lobby is not None:
        limits.lobby.look()
