from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.serving.server.run import run
from birthmark.serving.server.tls import certificate
from birthmark.serving.settings import Settings


def test_a_client_that_trusts_the_certificate_is_answered_over_tls(
    started: Callable[..., Any],
    publish: Callable[..., str],
    pair: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    publish(tmp_path / "registry")
    options = ("--ssl-certfile", str(pair[0]), "--ssl-keyfile", str(pair[1]))
    with started(tmp_path / "registry", tmp_path, *options) as service:
        assert service.url.startswith("https://127.0.0.1:")
        with service.client(verify=ssl.create_default_context(cafile=pair[0])) as client:
            response = client.post("/v1/predictions", json={"name": "a.lock"})
            assert response.json()["prediction"]["name"] == "a.lock"
        with service.client() as client, pytest.raises(httpx.ConnectError, match="self-signed"):
            client.get("/healthz")


@pytest.mark.deep
def test_silent_connections_keep_nobody_out(
    started: Callable[..., Any],
    publish: Callable[..., str],
    pair: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    """Connections count before their TLS handshake, so that file descriptors do not run out."""
    publish(tmp_path / "registry")
    options = ("--ssl-certfile", str(pair[0]), "--ssl-keyfile", str(pair[1]))
    most = 20
    with (
        started(
            tmp_path / "registry", tmp_path, *options, "--max-connections", str(most)
        ) as service,
        ExitStack() as stack,
    ):
        before = connections_of(service.process.pid)
        silent = [
            stack.enter_context(socket.create_connection(service.address)) for _ in range(400)
        ]
        for _ in range(3):
            with service.client(verify=ssl.create_default_context(cafile=pair[0])) as client:
                assert client.get("/readyz").status_code == 200
        assert connections_of(service.process.pid) <= before + most
        silent[0].settimeout(30)
        with suppress(ConnectionResetError):
            assert silent[0].recv(1) == b""
        assert "Traceback" not in service.log.read_text()


def connections_of(process: int) -> int:
    """Return how many sockets a process has open (Linux)."""
    files = Path(f"/proc/{process}/fd")
    if not files.exists():
        pytest.skip("/proc tells no open files here")
    found = 0
    for path in files.iterdir():
        with suppress(FileNotFoundError):  # it was closed meanwhile
            found += "socket:" in str(path.readlink())
    return found


def test_a_connection_without_tls_is_closed(
    started: Callable[..., Any],
    publish: Callable[..., str],
    pair: tuple[Path, Path],
    tmp_path: Path,
    eventually: Callable[..., bool],
) -> None:
    publish(tmp_path / "registry")
    options = ("--ssl-certfile", str(pair[0]), "--ssl-keyfile", str(pair[1]))
    with started(tmp_path / "registry", tmp_path, *options) as service:
        before = connections_of(service.process.pid)
        for _ in range(20):
            with socket.create_connection(service.address) as connection:
                connection.sendall(b"GET / HTTP/1.1\r\n\r\n")
                with suppress(ConnectionResetError):
                    connection.recv(100)
        assert eventually(lambda: connections_of(service.process.pid) <= before)
        assert "Traceback" not in service.log.read_text()


@pytest.mark.parametrize("first_bytes", [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01"])
def test_a_host_that_begins_many_handshakes_closes_no_other_clients_connection(
    started: Callable[..., Any],
    publish: Callable[..., str],
    pair: tuple[Path, Path],
    tmp_path: Path,
    first_bytes: bytes,
) -> None:
    publish(tmp_path / "registry")
    options = ("--ssl-certfile", str(pair[0]), "--ssl-keyfile", str(pair[1]))
    with (
        started(tmp_path / "registry", tmp_path, *options, "--max-requests", "2") as service,
        ExitStack() as stack,
    ):
        trusted = ssl.create_default_context(cafile=pair[0])

        def flood() -> None:
            for _ in range(100):
                own = socket.create_connection(service.address, source_address=("127.0.0.2", 0))
                own.sendall(first_bytes)
                stack.enter_context(own)

        for _ in range(3):
            flood()
            plain = stack.enter_context(socket.create_connection(service.address, 60))
            with trusted.wrap_socket(plain, server_hostname="127.0.0.1") as client:
                client.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
                flood()
                assert client.recv(100).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize("which", [0, 1])
def test_a_certificate_or_key_that_is_no_regular_file_is_refused(
    pair: tuple[Path, Path], tmp_path: Path, which: int
) -> None:
    fifo, files = tmp_path / "fifo", list(pair)
    os.mkfifo(fifo)
    files[which] = fifo
    with pytest.raises(ValueError, match=f"expected a regular file: '{fifo}'"):
        certificate(Settings(ssl_certfile=files[0], ssl_keyfile=files[1]))


def test_a_certificate_without_its_key_is_refused(pair: tuple[Path, Path]) -> None:
    with pytest.raises(ValueError, match="expected both or none"):
        Settings(ssl_certfile=pair[0])
    with pytest.raises(ValueError, match=r"key.pem, .*expected a certificate and its key"):
        run(Settings(ssl_certfile=pair[1], ssl_keyfile=pair[1]), print)
