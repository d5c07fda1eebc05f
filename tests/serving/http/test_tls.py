from __future__ import annotations

import socket
import ssl
import subprocess
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.serving.settings import Settings
from birthmark.serving.workers.server import run
from tests import needs


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a certificate for this host, made by openssl, and its key."""
    openssl = needs.program("openssl")
    directory = tmp_path_factory.mktemp("tls")
    certificate, key = directory / "certificate.pem", directory / "key.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    named = [
        "-addext",
        "subjectAltName=IP:127.0.0.1",
        "-keyout",
        str(key),
        "-out",
        str(certificate),
    ]
    subprocess.run(
        [openssl, *made, *named],
        check=True,
        capture_output=True,
    )
    return certificate, key


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
def test_who_connects_and_says_nothing_keeps_nobody_out(
    started: Callable[..., Any],
    publish: Callable[..., str],
    pair: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    """Connections count before TLS is agreed upon, so that files to open do not run out."""
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


def test_who_speaks_no_tls_is_forgotten(
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


def test_a_certificate_without_its_key_is_refused(pair: tuple[Path, Path]) -> None:
    with pytest.raises(ValueError, match="expected both or none"):
        Settings(ssl_certfile=pair[0])
    with pytest.raises(ValueError, match=r"key.pem, .*expected a certificate and its key"):
        run(Settings(ssl_certfile=pair[1], ssl_keyfile=pair[1]), print)
