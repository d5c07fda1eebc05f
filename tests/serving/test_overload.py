"""In a sudden crowd, requests that would wait long get 503 at once."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from birthmark.serving.settings import Settings
from tests.serving.http_answers import Answer, read

QUEUED = Settings().max_requests
CROWD = 8 * QUEUED
BODY = b'{"name": "a.lock"}'
REQUEST = (
    b"POST /v1/predictions HTTP/1.1\r\nhost: localhost\r\n%bcontent-length: %d\r\n\r\n%b"
)  # fmt: skip


@pytest.fixture(scope="module")
def service(
    started: Callable[..., Any],
    publish: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Any]:
    directory = tmp_path_factory.mktemp("overload")
    publish(directory / "registry")
    with started(directory / "registry", directory) as service:
        yield service


def asked_at_once(service: Any, every: list[socket.socket], *fields: bytes) -> list[Answer]:
    """Send a request on each connection while the service is stopped; return the answers."""
    extra = b"".join(field + b"\r\n" for field in fields)
    service.process.send_signal(signal.SIGSTOP)
    try:
        for connection in every:
            connection.sendall(REQUEST % (extra, len(BODY), BODY))
    finally:
        service.process.send_signal(signal.SIGCONT)
    return [answer for connection in every for answer in read(connection, 1)]


@pytest.fixture
def every(service: Any) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(service.address, timeout=60))
            for _ in range(CROWD)
        ]


@pytest.fixture
def known(every: list[socket.socket]) -> list[socket.socket]:
    """Return connections that have had a request."""
    for connection in every:
        connection.sendall(REQUEST % (b"", len(BODY), BODY))
        assert read(connection, 1)[0].status == 200
    return every


def shed(service: Any) -> float:
    with service.client() as client:
        lines = client.get("/metrics").text.splitlines()
    (line,) = [each for each in lines if each.startswith("birthmark_shed_total")]
    return float(line.split()[-1])


def test_a_request_that_would_wait_long_gets_503_and_keeps_its_connection(
    service: Any, known: list[socket.socket]
) -> None:
    before = shed(service)
    found = asked_at_once(service, known)
    refused = [answer for answer in found if answer.status == 503]
    assert 0 < len(refused) <= CROWD - QUEUED
    assert {answer.status for answer in found} == {200, 503}
    assert {answer.error for answer in refused} == {"overloaded"}
    assert {answer.fields["retry-after"] for answer in refused} == {"1"}
    assert shed(service) == before + len(refused)
    for connection in known[:: CROWD // 50]:
        connection.sendall(REQUEST % (b"", len(BODY), BODY))
        assert read(connection, 1)[0].status == 200


def test_a_request_that_closes_its_connection_gets_503_and_the_end(
    service: Any, known: list[socket.socket]
) -> None:
    found = asked_at_once(service, known, b"connection: close")
    assert {answer.status for answer in found} == {200, 503}
    assert {answer.fields["connection"] for answer in found} == {"close"}
    assert all(connection.recv(1) == b"" for connection in known)


def test_connections_in_a_crowd_get_503_and_the_end(
    service: Any, every: list[socket.socket], eventually: Callable[..., bool]
) -> None:
    before = shed(service)
    found = asked_at_once(service, every)
    refused = [answer for answer in found if answer.status == 503]
    assert 0 < len(refused) <= CROWD - QUEUED
    assert {answer.error for answer in refused} == {"overloaded"}
    assert eventually(lambda: shed(service) == before + len(refused))


def test_silent_connections_wait_and_are_answered_in_the_end(
    service: Any, every: list[socket.socket]
) -> None:
    for connection in every[:: CROWD // 50]:
        connection.sendall(REQUEST % (b"", len(BODY), BODY))
        assert read(connection, 1)[0].status == 200


def test_incomplete_requests_keep_nobody_out(
    started: Callable[..., Any], publish: Callable[..., str], tmp_path: Path
) -> None:
    """Beyond the limit, the oldest connection with an incomplete request is closed."""
    publish(tmp_path / "registry")
    most = 20
    with (
        started(tmp_path / "registry", tmp_path, "--max-connections", str(most)) as service,
        ExitStack() as stack,
    ):
        begun = [stack.enter_context(socket.create_connection(service.address)) for _ in range(50)]
        for connection in begun:
            connection.sendall(b"GET /heal")
        for _ in range(3):
            with service.client() as client:
                assert client.get("/readyz").status_code == 200
        begun[0].settimeout(60)
        assert [answer.status for answer in read(begun[0])] in ([], [503])
