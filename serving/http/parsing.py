"""HTTP parsing in bounded steps, without protocol upgrades and trailers.

httptools accepts any protocol upgrade, keeps trailer fields among header fields, and limits
neither.
"""

from __future__ import annotations

import asyncio
from typing import Any

import httptools
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from birthmark.serving.access import hosts
from birthmark.serving.messages.errors import ApiError


class Flow(FlowControl):
    """uvicorn's flow control, with a hold on reading that `resume_reading` does not end."""

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__(transport)
        self._held = self._resume_wanted = False

    def hold(self) -> None:
        """Stop reading until `release`."""
        if not self._held:
            self._held, self._resume_wanted = True, not self.read_paused
            super().pause_reading()

    def release(self) -> None:
        """Resume reading, unless it is paused for another reason."""
        self._held = False
        if self._resume_wanted:
            super().resume_reading()

    def pause_reading(self) -> None:
        """Pause reading."""
        self._resume_wanted = False
        super().pause_reading()

    def resume_reading(self) -> None:
        """Resume reading, now or after `release`."""
        self._resume_wanted = True
        if not self._held:
            super().resume_reading()


HEAD_BYTES = 16 * 1024
"""The longest head of a request (request line and header fields), and the longest trailer."""

FIELDS = 100
"""The most header fields of a request, and the most trailer fields."""

AT_ONCE = 32 * 1024
"""Bytes parsed before other connections get a turn: they may be thousands of small chunks."""

_UPGRADE_FIELDS = frozenset({b"upgrade", b"http2-settings"})
"""Header fields that offer another protocol, and their names in ``Connection``."""


class Parsing(HttpToolsProtocol):
    """uvicorn's protocol with stricter parsing; `refuse` is called for malformed requests."""

    flow: Flow

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.reading_head = False
        """Whether a head has begun that is not complete."""
        self.refusal: ApiError | None = None
        """The error that a callback of the parser raised."""
        self._fed = 0
        self._progressed = False
        self._hosts: list[bytes] = []
        self._trailers = 0
        self._unparsed = b""

    def refuse(self, error: ApiError) -> None:
        """Answer the request being received with an error."""
        raise NotImplementedError

    def data_received(self, data: bytes) -> None:
        """Parse the data, a part at a time."""
        if self._unparsed:  # TLS may hold data that was read before the pause
            self._unparsed += data
        else:
            self.parse(data)

    def _resume(self) -> None:
        data, self._unparsed = self._unparsed, b""
        if self.parser is not None and not self.transport.is_closing():
            self.parse(data)
            if not self._unparsed:
                self.flow.release()

    def parse(self, data: bytes) -> None:
        """Parse the first `AT_ONCE` bytes; refuse a head or trailer that is too long."""
        if len(data) > AT_ONCE:
            data, self._unparsed = data[:AT_ONCE], data[AT_ONCE:]
            self.flow.hold()
            self.loop.call_soon(self._resume)
        self._unset_keepalive_if_required()
        self._fed += len(data)
        self._progressed = False
        try:
            self._feed(data)
        except httptools.HttpParserError:
            self.refuse(self.refusal or ApiError("invalid_http", "expected an HTTP request"))
        if self._progressed:
            self._fed = 0
        elif self._fed > HEAD_BYTES:
            self.refuse(too_large(f"expected a head, or a trailer, of at most {HEAD_BYTES} bytes"))

    def _feed(self, data: bytes) -> None:
        """Parse the data; ignore an offered protocol upgrade (RFC 9110 section 7.8).

        The parser takes the bytes after such a head for the other protocol. So the request is
        parsed again without the offer.
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
            reading_head = self._without_offer()
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            self.parser.feed_data(reading_head)

    def _without_offer(self) -> bytes:
        method, version = self.parser.get_method(), self.parser.get_http_version()
        lines = [b"%b %b HTTP/%b" % (method, self.url, version.encode())]
        for name, value in self.headers:
            if name == b"connection":
                options = (option.strip() for option in value.split(b","))
                value = b", ".join(name for name in options if name.lower() not in _UPGRADE_FIELDS)
            if name not in _UPGRADE_FIELDS:
                lines.append(b"%b: %b" % (name, value))
        return b"\r\n".join([*lines, b"", b""])

    def on_message_begin(self) -> None:
        """Begin a head."""
        super().on_message_begin()
        self.reading_head = True
        self._hosts = []
        self._trailers = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Add a header field; ignore a trailer field (RFC 9110 section 6.5.1)."""
        name = name.lower()
        if not self.reading_head:
            self._trailers += 1
            if self._trailers > FIELDS:
                self.refusal = too_large(f"expected at most {FIELDS} fields in a trailer")
                raise self.refusal
            return
        if name == b"host":
            self._hosts.append(value)
        elif name == b"expect" and value.lower() == b"100-continue":
            self.expect_100_continue = True
        self.headers.append((name, value))

    def on_headers_complete(self) -> None:
        """Begin the request if its head is valid; one with an upgrade offer is parsed again."""
        self._progressed = True
        if self.parser.should_upgrade():
            return
        # httptools swallows exceptions raised here, so store the error.
        self.refusal = self.head_error()
        if self.refusal is not None:
            raise self.refusal
        self.reading_head = False
        self.begin()

    def begin(self) -> None:
        """Begin a request whose head is valid."""
        super().on_headers_complete()

    def head_error(self) -> ApiError | None:
        """Return the error of a malformed head, if any."""
        if len(self._hosts) != 1 and (self._hosts or self.parser.get_http_version() == "1.1"):
            return ApiError("invalid_http", f"expected one Host, found {len(self._hosts)}")
        if self._hosts and not hosts.is_valid(self._hosts[0]):
            return ApiError("invalid_http", "expected a host name or address, and a port, as Host")
        if len(self.headers) > FIELDS:
            return too_large(f"expected at most {FIELDS} header fields")
        if self._fed > HEAD_BYTES:
            size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if size > HEAD_BYTES:
                return too_large(f"expected a head of at most {HEAD_BYTES} bytes")
        return None

    def on_body(self, body: bytes) -> None:
        """Add a part of a body."""
        self._progressed = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request; one with an upgrade offer is parsed again."""
        if not self.parser.should_upgrade():
            self._progressed = True
            self.end()

    def end(self) -> None:
        """End a complete request."""
        super().on_message_complete()


def too_large(message: str) -> ApiError:
    """Return the error for a head or trailer that is too large."""
    return ApiError("head_too_large", message)
