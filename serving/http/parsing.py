"""What is sent over a connection, parsed: a part at a time, and without what nobody asked for.

httptools goes over to any protocol that a request offers, keeps the fields of a trailer among those
of the head, and bounds neither.
"""

from __future__ import annotations

from typing import Any

import httptools
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from birthmark.serving.access import hosts
from birthmark.serving.http.flow_control import Flow
from birthmark.serving.messages.errors import ApiError

HEAD_BYTES = 16 * 1024
"""The longest head of a request, its line and its header fields; and the longest trailer."""

FIELDS = 100
"""The most header fields of a request, and the most fields of its trailer."""

AT_ONCE = 32 * 1024
"""Bytes that are parsed before others have their turn: they may be thousands of small chunks."""

_OFFERS = frozenset({b"upgrade", b"http2-settings"})
"""Header fields that offer another protocol, and what ``Connection`` calls them by."""


class Parsing(HttpToolsProtocol):
    """uvicorn's protocol, with stricter parsing; `refuse` is called for what is refused."""

    flow: Flow

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.head = False
        """Whether a head has begun that is not whole."""
        self.refusal: ApiError | None = None
        """Why a callback of the parser's raised."""
        self._fed = 0
        self._went_on = False
        self._hosts: list[bytes] = []
        self._trailers = 0
        self._late = b""

    def refuse(self, error: ApiError) -> None:
        """Answer what is being sent with an error."""
        raise NotImplementedError

    def data_received(self, data: bytes) -> None:
        """Parse what came, a part at a time."""
        if self._late:  # TLS may have more that was read before
            self._late += data
        else:
            self.parse(data)

    def _go_on(self) -> None:
        data, self._late = self._late, b""
        if self.parser is not None and not self.transport.is_closing():
            self.parse(data)
            if not self._late:
                self.flow.let_go()

    def parse(self, data: bytes) -> None:
        """Parse the first of it; refuse a head, or a trailer, that goes on and on."""
        if len(data) > AT_ONCE:
            data, self._late = data[:AT_ONCE], data[AT_ONCE:]
            self.flow.hold()
            self.loop.call_soon(self._go_on)
        self._unset_keepalive_if_required()
        self._fed += len(data)
        self._went_on = False
        try:
            self._feed(data)
        except httptools.HttpParserError:
            self.refuse(self.refusal or ApiError("invalid_http", "expected an HTTP request"))
        if self._went_on:
            self._fed = 0
        elif self._fed > HEAD_BYTES:
            self.refuse(too_large(f"expected a head, or a trailer, of at most {HEAD_BYTES} bytes"))

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
        """Begin with a head."""
        super().on_message_begin()
        self.head = True
        self._hosts = []
        self._trailers = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header field; one of a trailer is not looked at (RFC 9110 section 6.5.1)."""
        name = name.lower()
        if not self.head:
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
        """Begin the request, unless its head is wrong; one with an offer is parsed again."""
        self._went_on = True
        if self.parser.should_upgrade():
            return
        # What is raised here the parser catches, and raises an error of its own.
        self.refusal = self.wrong_with_head()
        if self.refusal is not None:
            raise self.refusal
        self.head = False
        self.begin()

    def begin(self) -> None:
        """Begin a request whose head is right."""
        super().on_headers_complete()

    def wrong_with_head(self) -> ApiError | None:
        """Return why a head is refused, if it is."""
        if len(self._hosts) != 1 and (self._hosts or self.parser.get_http_version() == "1.1"):
            return ApiError("invalid_http", f"expected one Host, found {len(self._hosts)}")
        if self._hosts and not hosts.is_valid(self._hosts[0]):
            return ApiError("invalid_http", "expected a host's name or number, and a port, as Host")
        if len(self.headers) > FIELDS:
            return too_large(f"expected at most {FIELDS} header fields")
        if self._fed > HEAD_BYTES:
            size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
            if size > HEAD_BYTES:
                return too_large(f"expected a head of at most {HEAD_BYTES} bytes")
        return None

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._went_on = True
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End a request; one with an offer is parsed again."""
        if not self.parser.should_upgrade():
            self._went_on = True
            self.end()

    def end(self) -> None:
        """End a request that is whole."""
        super().on_message_complete()


def too_large(message: str) -> ApiError:
    """Return the error for a head, or a trailer, that is too large."""
    return ApiError("head_too_large", message)
