"""A service answers others, within its memory limit, whatever some clients do."""

from __future__ import annotations

import json
import resource
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

pytestmark = pytest.mark.deep

MOST = 500_000_000
"""Bytes of memory that no abuse may make the service exceed."""

HEAD = b"POST /v1/predictions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
TIMEOUT = 2
VALUES = 250_000
MANY = 10_000


@pytest.fixture(scope="module")
def service(
    started: Callable[..., Any],
    publish: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Any]:
    directory = tmp_path_factory.mktemp("abuse")
    publish(directory / "registry", heat=True)
    options = ("--timeout-seconds", str(TIMEOUT))
    with started(directory / "registry", directory, *options) as service:
        yield service


@pytest.fixture(autouse=True)
def _others_are_answered(service: Any) -> Iterator[None]:
    """Send requests as others would all the time; check the memory at the end."""
    over, failed = threading.Event(), []

    def ask() -> None:
        with service.client() as client:
            while not over.wait(0.02):
                response = client.post("/v1/predictions", json={"name": "a.lock"})
                if response.status_code != 200:
                    failed.append(response.text)

    asking = threading.Thread(target=ask)
    asking.start()
    yield
    over.set()
    asking.join(60)
    assert not asking.is_alive()
    assert failed == []
    with service.client() as client:
        assert client.get("/readyz").status_code == 200
    assert peak(service.process.pid) < MOST


def peak(process: int) -> int:
    """Return the most memory that a process has had resident, in bytes (Linux)."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        pytest.skip("/proc tells no peak of memory here")
    (line,) = [each for each in status.read_text().splitlines() if each.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


@contextmanager
def connected(service: Any, receive_buffer: int | None = None) -> Iterator[socket.socket]:
    """Yield a connection, whose buffer may be small."""
    with socket.socket() as connection:
        if receive_buffer is not None:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        connection.settimeout(60)
        connection.connect(service.address)
        yield connection


def answer(connection: socket.socket) -> tuple[int, dict[str, Any]]:
    """Return the status and body of the last answer of a connection."""
    received = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)


def error(connection: socket.socket) -> tuple[int, str]:
    status, body = answer(connection)
    return status, body["error"]["type"]


def test_ten_thousand_idle_connections_are_kept(service: Any) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < MANY + 500:
        pytest.skip(f"a process may have {hard} files here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with ExitStack() as stack:
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        every = [stack.enter_context(connected(service)) for _ in range(MANY)]
        with service.client() as client:
            assert client.post("/v1/predictions", json={"name": "a.lock"}).status_code == 200
        for connection in every[:: MANY // 10]:
            connection.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
            assert answer(connection) == (200, {"status": "ok"})


def test_a_body_of_a_gigabyte_is_refused_by_its_length_before_it_comes(service: Any) -> None:
    with connected(service) as connection:
        connection.sendall(HEAD + b"content-length: 1000000000\r\n\r\n")
        reply = connection.recv(65536)
        while not reply.endswith(b"}}"):
            reply += connection.recv(65536)
        assert reply.startswith(b"HTTP/1.1 413 ")
        assert b'"body_too_large"' in reply


def test_a_body_of_a_gigabyte_without_its_length_is_refused_and_not_kept(service: Any) -> None:
    piece = b"100000\r\n" + bytes(0x100000) + b"\r\n"
    with connected(service) as connection:
        connection.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\n")
        with suppress(ConnectionError):
            for _ in range(1000):
                connection.sendall(piece)
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")


def test_trailers_without_end_are_not_kept(service: Any) -> None:
    """A request whose token was not checked yet, on two connections."""
    piece = b"a:\r\n" * 250_000
    with ExitStack() as stack:
        every = [stack.enter_context(connected(service)) for _ in range(2)]
        for connection in every:
            connection.sendall(HEAD + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n0\r\n")
            with suppress(ConnectionError):
                for _ in range(100):
                    connection.sendall(piece)
            assert error(connection) == (431, "head_too_large")


def test_slow_clients_keep_no_lists_out(service: Any) -> None:
    """Two bodies of the largest size use the whole budget, but only once they have come."""
    names = json.dumps([{"name": f"{n}.lock"} for n in range(MANY)])
    with ExitStack() as stack:
        for _ in range(2):
            slow = stack.enter_context(connected(service))
            slow.sendall(HEAD + b"content-length: 16000000\r\n\r\n[")
        with service.client() as client:
            found = [client.post("/v1/predictions", content=names).status_code for _ in range(10)]
    assert found == [200] * 10


def test_a_body_that_stops_is_revoked_for_lists(service: Any) -> None:
    names = json.dumps([{"name": f"{n}.lock"} for n in range(MANY)])
    with ExitStack() as stack:
        slow = [stack.enter_context(connected(service)) for _ in range(4)]
        for connection in slow:
            connection.sendall(HEAD + b"content-length: 16000000\r\n\r\n" + bytes(15_000_000))
        with service.client() as client:
            found = [client.post("/v1/predictions", content=names).status_code for _ in range(10)]
        assert found == [200] * 10
        assert error(slow[0]) == (503, "overloaded")


@pytest.mark.parametrize(
    "unit", ["[", '{"a":', "[],", "{},", "0,", '{"name":"a"},', '"a",', '{"name":"a","x":[0]},']
)
def test_json_that_takes_a_hundred_times_its_size_is_refused(service: Any, unit: str) -> None:
    signs = sum(unit.count(sign) for sign in ",[{")
    with service.client() as client:
        for many in (16_000_000 // len(unit), (VALUES - 10) // signs):
            body = unit * many
            for content in (body, "[" + body[: 16_000_000 - 100] + "0]"):
                response = client.post("/v1/explanations", content=content)
                assert response.status_code in (400, 413, 422), response.text
                assert response.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "flood",
    [
        b"".join(b"x%d: y\r\n" % n for n in range(1000)),
        b"x: " + b"y" * 1_000_000 + b"\r\n",
        b"cookie: " + b"y" * 20_000 + b"\r\n",
    ],
    ids=["many fields", "a field without an end", "a long field"],
)
def test_a_head_that_is_too_large_gets_431(service: Any, flood: bytes) -> None:
    with connected(service) as connection:
        with suppress(ConnectionError):
            connection.sendall(HEAD + flood + b"\r\n")
        assert error(connection) == (431, "head_too_large")


def test_malformed_http_gets_400_in_the_common_shape(service: Any) -> None:
    for sent in (
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"hello\r\n\r\n",
        b"GET http:// HTTP/9\r\n\r\n",
    ):
        with connected(service) as connection:
            connection.sendall(sent)
            assert error(connection) == (400, "invalid_http")


@pytest.mark.parametrize(
    "begun",
    [b"GET /heal", HEAD, HEAD + b"content-length: 100\r\n\r\n{"],
    ids=["line", "head", "body"],
)
def test_an_incomplete_request_gets_408(service: Any, begun: bytes) -> None:
    with ExitStack() as stack:
        every = [stack.enter_context(connected(service)) for _ in range(200)]
        for connection in every:
            connection.sendall(begun)
        assert error(every[-1]) == (408, "too_slow")


def test_single_bytes_do_not_extend_the_time(service: Any) -> None:
    with connected(service) as connection:
        connection.sendall(HEAD + b"x: ")
        with suppress(ConnectionError, TimeoutError):
            connection.settimeout(0.2)
            while True:
                connection.sendall(b"y")
                with suppress(TimeoutError):
                    if reply := connection.recv(65536):
                        break
        assert reply.startswith(b"HTTP/1.1 408 ")


def test_a_client_that_does_not_read_its_answer_is_cut_off(
    service: Any, eventually: Callable[..., bool]
) -> None:
    names = json.dumps([{"name": f"{n}.lock"} for n in range(MANY)]).encode()
    with ExitStack() as stack:
        every = [stack.enter_context(connected(service, 4096)) for _ in range(40)]
        for connection in every:
            connection.sendall(HEAD + b"content-length: %d\r\n\r\n" % len(names) + names)
        assert eventually(lambda: is_cut_off(every[0]))  # after the time that it has


def is_cut_off(connection: socket.socket) -> bool:
    try:
        connection.sendall(b"\r\n")
    except ConnectionError:
        return True
    return False


def test_requests_without_end_on_one_connection_are_not_kept_but_counted(service: Any) -> None:
    before = counted_shed(service)
    flood = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n" * 1000
    with connected(service) as connection:
        connection.settimeout(5)
        with suppress(ConnectionError, TimeoutError):
            for _ in range(1000):
                connection.sendall(flood)
    assert counted_shed(service) > before


def counted_shed(service: Any) -> float:
    with service.client() as client:
        lines = client.get("/metrics").text.splitlines()
    (line,) = [each for each in lines if each.startswith("birthmark_shed_total")]
    return float(line.split()[-1])


def test_a_crowd_is_shed_with_503_and_retry_after(service: Any) -> None:
    body = json.dumps([{"name": f"{n}.lock"} for n in range(1000)])
    found: list[httpx.Response] = []

    def ask() -> None:
        with service.client() as client:
            found.append(client.post("/v1/explanations", content=body))

    crowd = [threading.Thread(target=ask) for _ in range(20)]
    for each in crowd:
        each.start()
    for each in crowd:
        each.join()
    assert {response.status_code for response in found} == {200, 503}
    shed = [response for response in found if response.status_code == 503]
    assert {response.headers["retry-after"] for response in shed} == {"1"}
    assert {response.json()["error"]["type"] for response in shed} == {"overloaded"}
    assert counted_shed(service) >= len(shed)
