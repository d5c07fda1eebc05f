"""Requests sent byte by byte over a connection: each gets its answer, in order."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import cast

import httpx
import pytest

from tests.serving.http_answers import Answer, read

PIPELINED, FIELDS, HEAD_BYTES = 64, 100, 16 * 1024
"""Limits of ``native/service/src/handler.rs``."""

BODY = b'{"name": "a.lock"}'
GET = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
CHUNKED = b"transfer-encoding: chunked"
CHUNK = b"%x\r\n%b\r\n" % (len(BODY), BODY)


def head(*fields: bytes, path: bytes = b"/v1/predictions", host: bytes = b"localhost") -> bytes:
    """Return the head of a request with more header fields."""
    always = [b"POST %b HTTP/1.1" % path, b"host: " + host, b"content-type: application/json"]
    return b"\r\n".join([*always, *fields, b"", b""])


def post(*fields: bytes) -> bytes:
    """Return a request with a Content-Length."""
    return head(*fields, b"content-length: %d" % len(BODY)) + BODY


@contextmanager
def connected(client: httpx.Client) -> Iterator[socket.socket]:
    url = client.base_url
    with socket.create_connection((url.host, cast(int, url.port)), timeout=30) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield connection


def answers(client: httpx.Client, *pieces: bytes, many: int | None = None) -> list[Answer]:
    """Send pieces separately; return the answers."""
    with connected(client) as connection:
        with suppress(ConnectionError):
            for piece in pieces:
                connection.sendall(piece)
        return read(connection, many)


def is_predicted(answer: Answer) -> bool:
    return answer.status == 200 and answer.json()["prediction"]["name"] == "a.lock"


def test_trailer_fields_are_not_header_fields(client: httpx.Client) -> None:
    """RFC 9110 section 6.5.1: fields of a trailer are not merged into the head's."""
    last = b"0\r\nauthorization: Bearer x\r\nhost: elsewhere\r\n\r\n"
    first, second = answers(client, head(CHUNKED) + CHUNK + last + GET, many=2)
    assert is_predicted(first)
    assert second.json() == {"status": "ok"}


def test_a_trailer_of_too_many_fields_gets_431(client: httpx.Client) -> None:
    fields = b"a:\r\n" * (FIELDS + 1)
    (answer,) = answers(client, head(CHUNKED) + CHUNK + b"0\r\n", fields)
    assert (answer.status, answer.error) == (431, "head_too_large")


@pytest.mark.parametrize("unit", [b"a:\r\n", b"a: " + b"b" * 1000, b"b"], ids=repr)
def test_a_trailer_without_end_gets_431_and_is_not_kept(client: httpx.Client, unit: bytes) -> None:
    piece = unit * (HEAD_BYTES // len(unit))
    (answer,) = answers(client, head(CHUNKED) + CHUNK + b"0\r\n", *[piece] * 20)
    assert (answer.status, answer.error) == (431, "head_too_large")


def test_an_extension_of_a_chunk_without_end_gets_431(client: httpx.Client) -> None:
    """RFC 9112 section 7.1.1: a recipient ought to limit the total length of chunk extensions."""
    (answer,) = answers(client, head(CHUNKED) + b"1;", *[b"a" * HEAD_BYTES] * 20)
    assert (answer.status, answer.error) == (431, "head_too_large")


def test_empty_lines_without_end_get_431(client: httpx.Client) -> None:
    (answer,) = answers(client, *[b"\r\n" * (HEAD_BYTES // 2)] * 20)
    assert (answer.status, answer.error) == (431, "head_too_large")


def in_chunks(size: int, many: int) -> bytes:
    """Return a body of a file's name, and then white space in more chunks."""
    return CHUNK + b"%x\r\n%b\r\n" % (size, b" " * size) * many + b"0\r\n\r\n"


def test_a_body_in_many_chunks_is_read_while_others_are_answered(client: httpx.Client) -> None:
    """Each part is a step of the event loop, which does nothing else meanwhile."""
    with connected(client) as connection:
        connection.sendall(head(CHUNKED) + in_chunks(1, 200_000))
        assert is_predicted(read(connection, 1)[0])
    first, second = answers(client, head(CHUNKED) + in_chunks(100, 10_000) + GET, many=2)
    assert is_predicted(first)
    assert second.status == 200


def test_large_data_is_parsed_in_parts_and_in_order(
    client: httpx.Client,
) -> None:
    names = [f"{number}{'x' * 200}.lock" for number in range(1_500)]
    body = json.dumps([{"name": name} for name in names]).encode()
    assert len(body) > 5 * 32 * 1024
    first, second = answers(client, head(b"content-length: %d" % len(body)) + body + GET, many=2)
    assert [each["name"] for each in first.json()["predictions"]] == names
    assert second.json() == {"status": "ok"}


OFFERS = [
    (b"connection: Upgrade", b"upgrade: h2c"),
    (
        b"connection: Upgrade, HTTP2-Settings",
        b"upgrade: h2c",
        b"http2-settings: AAEAAEAAAAIAAAABAAM",
    ),
    (b"upgrade: websocket", b"sec-websocket-version: 13", b"connection: keep-alive, upgrade"),
]


@pytest.mark.parametrize("offer", OFFERS, ids=lambda offer: offer[-1].decode())
def test_an_offer_of_another_protocol_is_ignored(
    client: httpx.Client, offer: tuple[bytes, ...]
) -> None:
    """RFC 9110 section 7.8: a server may ignore it. The body is that of the request."""
    whole = post(*offer)
    body = whole.index(BODY)
    for pieces in (
        [whole + GET],
        [whole[:body], whole[body:], GET],
        [whole[: body + 5], whole[body + 5 :] + GET],
        [bytes([each]) for each in whole + GET],
    ):
        first, second = answers(client, *pieces, many=2)
        assert is_predicted(first)
        assert second.json() == {"status": "ok"}


def test_a_body_in_chunks_after_an_offer_is_no_request(client: httpx.Client) -> None:
    inner = b"PUT /v1/model HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n"
    chunk = b"%x\r\n%b\r\n0\r\n\r\n" % (len(inner), inner)
    whole = head(*OFFERS[0], CHUNKED)
    first, second = answers(client, whole, chunk, GET, many=2)
    assert (first.status, first.error) == (400, "invalid_json")
    assert second.status == 200


def test_an_offer_keeps_the_other_options_of_the_connection(client: httpx.Client) -> None:
    found = answers(client, post(b"connection: upgrade, close", b"upgrade: h2c") + GET)
    assert [is_predicted(each) for each in found] == [True]


def test_no_tunnel_is_opened(client: httpx.Client) -> None:
    (answer,) = answers(client, b"CONNECT a:1 HTTP/1.1\r\nhost: a:1\r\n\r\n" + GET)
    assert (answer.status, answer.error) == (405, "method_not_allowed")


@pytest.mark.parametrize("hosts", [(), (b"a", b"a"), (b"a/b",), (b"a@b",), (b"a b",), (b"[a",)])
def test_a_request_without_one_host_gets_400(
    client: httpx.Client, hosts: tuple[bytes, ...]
) -> None:
    """RFC 9112 section 3.2: 400 where Host is missing, there twice, or invalid."""
    fields = b"".join(b"host: %b\r\n" % host for host in hosts)
    (answer,) = answers(client, b"GET /healthz HTTP/1.1\r\n%b\r\n" % fields)
    assert (answer.status, answer.error) == (400, "invalid_http")


@pytest.mark.parametrize("host", [b"a.example", b"127.0.0.1:80", b"[::1]:80", b"", b"a_b:"])
def test_a_valid_host_is_one(client: httpx.Client, host: bytes) -> None:
    (answer,) = answers(client, b"GET /healthz HTTP/1.1\r\nhost: %b\r\n\r\n" % host, many=1)
    assert answer.status == 200


def test_http_1_0_needs_no_host(client: httpx.Client) -> None:
    assert [each.status for each in answers(client, b"GET /healthz HTTP/1.0\r\n\r\n")] == [200]


def test_requests_before_one_too_many_are_answered_and_it_gets_503(client: httpx.Client) -> None:
    """One is answered and `PIPELINED` wait; the next is refused, and later ones are not read."""
    found = answers(client, post() * (PIPELINED + 20))
    assert all(map(is_predicted, found[:-1]))
    assert len(found) >= PIPELINED + 2
    assert (found[-1].status, found[-1].error) == (503, "overloaded")
    assert found[-1].fields["retry-after"] == "1"


@pytest.mark.parametrize(
    ("wrong", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
        (GET[:-2] + b"x: y\r\n" * FIELDS + b"\r\n", 431),
        (head(CHUNKED) + b"no length\r\n", 400),
    ],
    ids=["no HTTP", "no host", "too many fields", "no chunk"],
)
def test_a_refused_request_is_answered_in_order(
    client: httpx.Client, wrong: bytes, status: int
) -> None:
    found = answers(client, post() * 3 + wrong + GET)
    assert [each.status for each in found] == [200, 200, 200, status]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_request_with_two_lengths_is_the_last_of_its_connection(
    client: httpx.Client, is_first: bool
) -> None:
    """RFC 9112 section 6.3: Transfer-Encoding overrides Content-Length, and may be an attack."""
    fields = [b"content-length: 5", CHUNKED] if is_first else [CHUNKED, b"content-length: 5"]
    (answer,) = answers(client, head(*fields) + CHUNK + b"0\r\n\r\n" + GET)
    assert is_predicted(answer)


def test_a_body_that_goes_on_after_its_answer_is_not_taken_for_requests(
    client: httpx.Client,
) -> None:
    """The service under test takes 2 MB."""
    body = GET * 60_000
    begun = head(b"content-length: %d" % len(body))
    found = answers(client, begun, body, GET, many=2)
    assert [each.status for each in found] == [413, 200]


def test_a_body_that_waits_for_a_100_is_refused_and_not_waited_for(client: httpx.Client) -> None:
    """RFC 9110 section 10.1.1: the client may never send it."""
    (answer,) = answers(client, head(b"expect: 100-continue", b"content-length: 99999999"))
    assert (answer.status, answer.error) == (413, "body_too_large")
    assert answer.fields["connection"] == "close"
