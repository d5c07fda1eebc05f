"""The clients, against the service in a separate process and against peers that misbehave.

Tests also serving/address.py, serving/client/questions.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import select
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import chain, repeat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import birthmark
from birthmark import AsyncClient, Client, ServiceError
from birthmark.serving.client.breaker import FAILURES
from birthmark.serving.settings import Settings
from tests.waiting import reserved_port

PATIENT = 60.0
"""A deadline that a loaded machine keeps."""


@pytest.fixture(scope="module")
def url(
    started: Callable[..., Any],
    publish: Callable[..., str],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[str]:
    """Return the URL of a service in a separate process."""
    directory = tmp_path_factory.mktemp("service")
    publish(directory / "registry", heat=True)
    with started(directory / "registry", directory) as service:
        yield service.url


@contextmanager
def peer(answer: Callable[[socket.socket], None]) -> Iterator[tuple[str, list[int]]]:
    """Listen at a free port; `answer` each connection in a thread. Yield the URL, and a count."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connections = [0]
        held: list[socket.socket] = []

        def take() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    connections[0] += 1
                    held.append(connection)
                    threading.Thread(target=quietly, args=(connection,), daemon=True).start()

        def quietly(connection: socket.socket) -> None:
            with contextlib.suppress(OSError):
                answer(connection)

        thread = threading.Thread(target=take, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}", connections
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
            for connection in held:
                connection.close()


def request(connection: socket.socket) -> bytes:
    """Return a whole request, or nothing at the end of the connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        if not (more := connection.recv(65536)):
            return b""
        received += more
    head, _, body = received.partition(b"\r\n\r\n")
    size = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
    while len(body) < size:
        body += connection.recv(65536)
    return head + body


def saying(response: bytes) -> Callable[[socket.socket], None]:
    """Return a function that answers any request with `response`, and closes."""

    def answer(connection: socket.socket) -> None:
        request(connection)
        connection.sendall(response)
        connection.shutdown(socket.SHUT_WR)

    return answer


def ok(body: bytes, head: bytes = b"") -> bytes:
    size = b"content-length: %d\r\n" % len(body)
    return b"HTTP/1.1 200 OK\r\n" + head + size + b"\r\n" + body


def silent(connection: socket.socket) -> None:
    """Read a request, and send nothing."""
    while connection.recv(65536):
        pass


def dripping(connection: socket.socket) -> None:
    """Answer a byte at a time, each before any timeout between two, until the client goes."""
    connection.recv(65536)
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\n"
    for byte in chain(head, repeat(ord(" "))):
        connection.sendall(bytes([byte]))
        if select.select([connection], [], [], 0.02)[0]:
            return


def test_a_client_predicts_hints_and_explains(url: str) -> None:
    with Client(url, deadline=PATIENT) as client:
        found = client.predict(
            "u1.lock", mode="0600", uid=1, gid=1, time=datetime(2001, 10, 22, tzinfo=UTC)
        )
        assert found.answered
        assert found.yes("size=zero")
        with pytest.raises(ValueError, match=r"'size=zreo' is no predicate .*'size=zero'"):
            found.yes("size=zreo")
        assert (found.model, found.kind, found.point) == (
            client.model()["version"],
            "name",
            "accurate",
        )
        assert client.hint("u1.lock", mode=0o600).hot_name
        assert not client.hint("u1.lock", is_directory=True).hot_name
        assert client.explain("u1.lock")["predicates"]["size=zero"]["evidence"]


def test_names_are_bytes_or_text_as_the_operating_system_has_it(url: str) -> None:
    latin = b"caf\xe9.lock"
    with Client(url, deadline=PATIENT) as client:
        for name in (latin, latin.decode(errors="surrogateescape")):
            assert client.predict(name, directory=name).yes("size=zero")
        many = client.predict_many([latin, "page.html", "ü.lock"])
        assert many.yes("size=zero").to_pylist() == [True, False, True]


def test_a_table_is_answered_in_its_order_by_one_version(url: str) -> None:
    table = pa.table({"name": ["a.html", "b.lock"], "uid": [None, 1]})
    with Client(url, deadline=PATIENT) as client:
        many = client.predict_many(table)
        assert many.answered
        assert many.model == client.model()["version"]
        assert many.yes("size=zero").to_pylist() == [False, True]
        with pytest.raises(ValueError, match="'unknown' is no predicate"):
            many.yes("unknown")
        with pytest.raises(ValueError, match="at most 10000 files at a time, found 10001"):
            client.predict_many(["a"] * 10_001)


def test_a_refused_request_is_no_for_programs_and_an_error_for_people(url: str) -> None:
    with Client(url, deadline=PATIENT) as client:
        for _ in range(2 * FAILURES):
            refused = client.predict("a/b")
            assert not refused.answered
            assert refused.why is not None
            assert refused.why.startswith("422 invalid_request: ")
        (warning,) = client.predict("u1.lock", mode=600).warnings
        assert warning.startswith("mode: the number 600 is decimal")
        assert client.predict("u1.lock", mode=0o600).warnings == []
        assert client.predict("u1.lock").answered, "the service is there: no reason to stop asking"
        with pytest.raises(ServiceError, match="without / and NUL") as raised:
            client.explain("a/b")
        assert (raised.value.status, raised.value.field) == (422, "name")


def test_threads_share_a_client_and_its_connections(url: str) -> None:
    with Client(url, deadline=PATIENT) as client, ThreadPoolExecutor(4) as threads:
        before = client.predict("u1.lock")
        assert list(threads.map(client.predict, ["u1.lock"] * 40)) == [before] * 40


def test_connections_are_kept() -> None:
    def answer(connection: socket.socket) -> None:
        while request(connection):
            connection.sendall(ok(b"4"))

    with peer(answer) as (url, connections), Client(url, deadline=PATIENT) as client:
        assert [client.hint("jobs.db").verdict for _ in range(5)] == [4] * 5
        assert connections == [1]


def test_the_asyncio_client_gives_the_same_answers(url: str) -> None:
    async def ask() -> None:
        async with AsyncClient(url, deadline=PATIENT) as client:
            names = ["u1.lock", "page.html"] * 5
            found = await asyncio.gather(*(client.predict(name) for name in names))
            assert [each.yes("size=zero") for each in found] == [True, False] * 5
            many = await client.predict_many(names)
            assert many.yes("size=zero").to_pylist() == [True, False] * 5
            assert (await client.hint("u1.lock")).hot_name
            assert (await client.model())["kind"] == "name"
            assert await client.explain("u1.lock")

    asyncio.run(ask())


def test_a_client_sends_a_token_over_a_unix_socket(
    started: Callable[..., Any], publish: Callable[..., str], tmp_path: Path
) -> None:
    from birthmark.serving.access import tokens

    publish(tmp_path / "registry")
    token = tokens.add(tmp_path / "tokens.json", "nas1", ["predict"])
    options = ("--uds", str(tmp_path / "s"), "--tokens", str(tmp_path / "tokens.json"))
    with started(tmp_path / "registry", tmp_path, *options, wait=False) as service:
        with Client(service.url, token=token, deadline=PATIENT) as client:
            assert client.predict("u1.lock").yes("size=zero")
        with Client(service.url, deadline=PATIENT) as stranger:
            assert str(stranger.predict("u1.lock").why).startswith("401 unauthorized")


@pytest.mark.parametrize("behave", [silent, dripping])
def test_a_deadline_covers_the_whole_call(behave: Callable[[socket.socket], None]) -> None:
    with peer(behave) as (url, _), Client(url, deadline=0.3) as client:
        for found in (client.predict("a"), client.predict_many(["a"]), client.hint("a")):
            assert not found.answered
            assert found.model is None
            assert str(found.why).startswith("no answer in time")
        with pytest.raises(ServiceError, match="in time"):
            client.explain("a", deadline=0.1)


def test_a_deadline_holds_for_a_handshake_that_does_not_end() -> None:
    with peer(silent) as (url, _), Client(url.replace("http:", "https:"), deadline=0.2) as client:
        assert str(client.predict("a").why).startswith("no answer in time")


@pytest.mark.parametrize(
    "response",
    [
        b"",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        ok(b""),
        ok(b"{"),
        ok(b"[" * 100_000),
        ok(b"8"),
        ok(b"true"),
        ok(b'{"prediction":{"predicates":{"lock":[]}}}'),
        ok(b'{"prediction":{"predicates":{"lock":"yes"}}}'),
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort",
        b"HTTP/1.1 302 Found\r\nlocation: /\r\ncontent-length: 0\r\n\r\n",
        b"HTTP/1.1 503 Service Unavailable\r\ncontent-length: 4\r\n\r\nbusy",
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 3\r\n\r\nabc",
    ],
    ids=repr,
)
def test_garbage_is_a_no(response: bytes) -> None:
    with peer(saying(response)) as (url, _), Client(url, deadline=PATIENT) as client:
        found = [client.predict("a"), client.predict_many(["a", "b"]), client.hint("a")]
        assert [each.answered for each in found] == [False] * 3
        assert all(each.why and each.model is None for each in found)
        assert found[0].yes("lock") is False  # type: ignore[union-attr]
        assert found[1].yes("lock").to_pylist() == [False, False]  # type: ignore[union-attr]


def test_a_client_pauses_after_failures_and_resumes_once_there_are_answers() -> None:
    closing = ok(
        b"4", b"connection: close\r\n"
    )  # otherwise a busy client reuses a connection that is closing
    verdicts = [b""] * FAILURES + [closing] * 50

    def answer(connection: socket.socket) -> None:
        saying(verdicts.pop(0))(connection)

    with peer(answer) as (url, connections), Client(url, deadline=PATIENT) as client:
        for _ in range(FAILURES):
            assert not client.hint("a").answered
        found = client.hint("a")
        while found.why and "not sent" in found.why:
            assert connections == [FAILURES]
            found = client.hint("a")
        assert found.hot_write
        assert client.hint("a").answered


def test_a_client_answers_no_until_the_service_starts(
    served: Callable[..., Any], publish: Callable[..., str], settings: Settings
) -> None:
    publish(settings.registry)
    with (
        reserved_port() as port,
        Client(f"http://127.0.0.1:{port}", deadline=PATIENT) as client,
    ):
        assert str(client.predict("u1.lock").why).startswith("no answer: ")
        with served(settings.model_copy(update={"port": port})):
            assert client.predict("u1.lock").yes("size=zero")
        assert not client.predict("u1.lock").answered


@pytest.mark.parametrize("url", ["ftp://host", "nas1:8325", ""])
def test_a_url_of_another_kind_is_refused_at_once(url: str) -> None:
    with pytest.raises(ValueError, match="expected http"):
        Client(url)


def test_a_certificate_must_be_one_that_is_trusted(pair: tuple[Path, Path]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)

    def answer(connection: socket.socket) -> None:
        with context.wrap_socket(connection, server_side=True) as secure:
            request(secure)
            secure.sendall(ok(b"4"))
            secure.unwrap()

    with peer(answer) as (plain, _):
        url = plain.replace("http:", "https:")
        with Client(url, deadline=PATIENT, certificates=pair[0]) as client:
            assert client.hint("a").hot_write
        with Client(url, deadline=PATIENT) as client:
            assert "certificate verify failed" in str(client.hint("a").why)


def test_importing_a_client_does_not_import_the_models() -> None:
    code = "import sys, birthmark; birthmark.Client; print('sklearn' in sys.modules)"
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert birthmark.Client is Client
