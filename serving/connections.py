"""HTTP connections with limits of their own: how many, how long, how much of a head.

uvicorn's protocol on httptools has none of these. Nothing here costs a request more than a few
attributes: a look around, once a second, finds the connections whose time is over.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from serving.errors import ApiError, raw
from serving.limits import Limits

HEAD_BYTES = 16 * 1024
"""The longest head of a request: its line and its header fields."""

FIELDS = 100
"""The most header fields of a request."""

PIPELINED = 64
"""The most requests that may wait on one connection for the answers before them."""

LOOK_SECONDS = 1.0

# What is no HTTP is told to who sent it; told to the log as well, it could fill the disk.
_log = logging.getLogger(__name__)
_log.setLevel(logging.ERROR)


class Connection(HttpToolsProtocol):
    """A connection; its ``scope["connection"]`` is it, and ``scope["arrived"]`` the head's time."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.logger = _log
        self.limits: Limits = self.app_state["limits"]
        self.limits.open = self.connections
        self._mark = time.monotonic()
        self._head = False
        self._whole = True
        self._fed = 0
        self._blocked: float | None = None
        self._refusal: ApiError | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing was asked that is not answered, and nothing is being asked."""
        return self._whole and (self.cycle is None or self.cycle.response_complete)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection; where there are too many, in the place of an idle one."""
        super().connection_made(transport)
        others = self.connections
        if len(others) <= self.limits.connections:
            return
        idle = next((each for each in others if each is not self and each.idle), None)  # type: ignore[union-attr]
        if idle is not None:
            idle.transport.abort()
        else:
            self._refuse(self.limits.overloaded(f"{len(others) - 1} connections are open"))

    def data_received(self, data: bytes) -> None:
        """Parse what came; refuse a head that goes on and on."""
        self._fed = self._fed + len(data) if self._head else len(data)
        super().data_received(data)
        if self._head and self._fed > HEAD_BYTES and not self.transport.is_closing():
            self._refuse(_too_large(f"expected a head of at most {HEAD_BYTES} bytes"))

    def on_message_begin(self) -> None:
        """Note when a request began."""
        super().on_message_begin()
        self._mark = time.monotonic()
        self._head = True
        self._whole = False

    def on_headers_complete(self) -> None:
        """Begin the request, unless its head is too large or too many wait before it."""
        self._check_head()
        self._head = False
        self.scope["connection"] = self  # type: ignore[typeddict-unknown-key]
        self.scope["arrived"] = time.monotonic()  # type: ignore[typeddict-unknown-key]
        super().on_headers_complete()

    def _check_head(self) -> None:
        # What parsers raise is caught by theirs, which then calls send_400_response.
        if len(self.headers) > FIELDS:
            self._refusal = _too_large(f"expected at most {FIELDS} header fields")
        elif len(self.pipeline) >= PIPELINED:
            what = f"{PIPELINED} requests wait on this connection"
            self._refusal = self.limits.overloaded(what)
        elif self._fed > HEAD_BYTES:
            size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if size > HEAD_BYTES:
                self._refusal = _too_large(f"expected a head of at most {HEAD_BYTES} bytes")
        if self._refusal is not None:
            raise self._refusal

    def on_message_complete(self) -> None:
        """Note that a request is whole."""
        self._whole = True
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Note since when the connection may be idle."""
        self._mark = time.monotonic()
        super().on_response_complete()

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

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, in the service's own shape, and close."""
        self._refuse(self._refusal or ApiError("invalid_http", "expected an HTTP request"))

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
        elif not self._whole and late:
            limit = settings.timeout_seconds
            self._refuse(ApiError("too_slow", f"expected the whole request within {limit} s"))
        elif self.idle and now - self._mark > settings.idle_seconds:
            self.transport.close()

    def _refuse(self, error: ApiError) -> None:
        """Answer with an error, if nothing was answered yet, and close."""
        if self.transport.is_closing():
            return
        cycle = self.cycle
        between = self._whole or self._head  # the last request has been answered, or nothing was
        if cycle is None or (cycle.response_complete if between else not cycle.response_started):
            self.transport.write(raw(error))
        self.transport.close()


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
