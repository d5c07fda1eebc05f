"""Requests by HTTP's grammar, cut into any pieces, get one answer each, in order.

TEST_EXAMPLES sets how many are tried, as in ``make fuzz``.
"""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import httpx
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.serving.http_answers import read

EXAMPLES = int(os.environ.get("TEST_EXAMPLES", "60"))

TOKEN = st.text("abcdefghijklmnopqrstuvwxyz-", min_size=1, max_size=8)
VALUE = st.text("abc XYZ019:;,=/", max_size=12).map(str.strip)
FIELD = st.tuples(TOKEN.map("x-{}".format), VALUE)
OFFER = st.sampled_from(
    [
        (),
        (("Connection", "Upgrade"), ("Upgrade", "h2c")),
        (("connection", "HTTP2-Settings, upgrade"), ("upgrade", "h2c"), ("http2-settings", "AAM")),
        (("Upgrade", "websocket"), ("Connection", "keep-alive, Upgrade")),
        (("Upgrade", "TLS/1.3"),),
        (("Connection", "upgrade"),),
    ]
)
INNER = b"PUT /v1/model HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n"
"""A text that is not a request within a body, whatever comes before it."""


@dataclass(frozen=True)
class Sent:
    """A request as sent, and its answer: the name of its file, or None for an error."""

    raw: bytes
    name: str | None
    status: int


@st.composite
def requests(draw: st.DrawFn) -> Sent:
    """Draw a request with a unique name, or one whose body is another request."""
    name = draw(st.integers(0, 10**9).map("n{}.lock".format))
    hidden = draw(st.integers(0, 4)) == 0
    body = INNER if hidden else json.dumps({"name": name}).encode()
    fields = [("Host", "localhost"), *draw(OFFER), *draw(st.lists(FIELD, max_size=3))]
    fields = draw(st.permutations(fields))
    if draw(st.booleans()):
        framing, sent = ("Transfer-Encoding", "chunked"), draw(chunked(body))
    else:
        framing, sent = ("Content-Length", str(len(body))), body
    lines = [f"{field}: {value}" for field, value in [*fields, framing]]
    head = "\r\n".join(["POST /v1/predictions HTTP/1.1", *lines, "", ""]).encode()
    return Sent(head + sent, None, 400) if hidden else Sent(head + sent, name, 200)


@st.composite
def chunked(draw: st.DrawFn, body: bytes) -> bytes:
    """Cut a body into chunks, some with extensions, and add a trailer (RFC 9112, 7.1)."""
    cuts = sorted(draw(st.sets(st.integers(1, len(body) - 1), max_size=4)))
    extension = st.sampled_from([b"", b";a", b";a=b", b';a="b c"'])
    chunks = [
        b"%x%b\r\n%b\r\n" % (end - begin, draw(extension), body[begin:end])
        for begin, end in zip([0, *cuts], [*cuts, len(body)], strict=True)
    ]
    trailer = draw(st.lists(st.one_of(FIELD, st.just(("Host", "elsewhere"))), max_size=3))
    fields = [f"{field}: {value}\r\n".encode() for field, value in trailer]
    return b"".join([*chunks, b"0", draw(extension), b"\r\n", *fields, b"\r\n"])


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[Sent], list[bytes]]:
    """Draw requests on one connection, and the pieces to send them in."""
    sent = draw(st.lists(requests(), min_size=1, max_size=6))
    whole = b"".join(each.raw for each in sent)
    cuts = sorted(draw(st.sets(st.integers(1, len(whole) - 1), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    return sent, pieces


@settings(max_examples=EXAMPLES, deadline=None)
@given(conversations())
def test_each_request_gets_its_answer_in_turn(
    client: httpx.Client, conversation: tuple[list[Sent], list[bytes]]
) -> None:
    sent, pieces = conversation
    url = client.base_url
    with socket.create_connection((url.host, cast(int, url.port)), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces:
            connection.sendall(piece)
        found = read(connection, len(sent))
    assert [answer.status for answer in found] == [each.status for each in sent]
    for answer, each in zip(found, sent, strict=True):
        content = answer.json()
        assert each.name == (content["prediction"]["name"] if answer.status == 200 else None)


@settings(max_examples=EXAMPLES, deadline=None)
@given(conversations(), st.data())
def test_damaged_requests_get_at_most_one_answer_each_and_never_500(
    client: httpx.Client, conversation: tuple[list[Sent], list[bytes]], data: st.DataObject
) -> None:
    whole = bytearray(b"".join(conversation[1]))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(whole) - 1))
        whole[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    url = client.base_url
    with socket.create_connection((url.host, cast(int, url.port)), timeout=30) as connection:
        with suppress(ConnectionError):
            connection.sendall(whole)
            connection.shutdown(socket.SHUT_WR)
        found = read(connection)
    assert len(found) <= whole.count(b"HTTP/1.") + 1
    assert all(answer.status < 500 for answer in found)
    assert client.get("/healthz").status_code == 200
