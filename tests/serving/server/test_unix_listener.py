from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.serving.server.run import listen, url
from birthmark.serving.server.unix_listener import MODE
from birthmark.serving.settings import Settings

COMMAND = "import typer; from birthmark.commands.serve import serve; typer.run(serve)"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a path that is short enough for a socket, wherever tests keep their files."""
    monkeypatch.chdir(tmp_path)
    return Path("birthmark.sock")


def test_the_service_answers_at_a_unix_socket(
    path: Path,
    tmp_path: Path,
    publish: Callable[..., str],
    settings_for: Callable[..., Settings],
    served: Callable[..., Any],
) -> None:
    version = publish(tmp_path / "registry")
    with served(settings_for(tmp_path / "registry", uds=path)) as client:
        assert client.get("/v1/model").json()["version"] == version
        assert client.post("/v1/predictions", json={"name": "a"}).status_code == 200
    assert not path.exists()


def test_its_url_is_the_path(path: Path) -> None:
    with listen(Settings(uds=path)) as listener:
        assert url(listener) == "unix:birthmark.sock"


def test_only_owner_and_group_may_connect(path: Path) -> None:
    before = os.umask(0)
    try:
        with listen(Settings(uds=path)):
            assert stat.S_IMODE(path.stat().st_mode) == MODE == 0o660
            assert os.umask(0) == 0
    finally:
        os.umask(before)


def test_the_socket_of_a_service_that_was_killed_is_replaced(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as left_behind:
        left_behind.bind(str(path))
    assert path.is_socket()
    with listen(Settings(uds=path)), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    assert not path.exists()


def test_a_socket_in_use_is_not_replaced(path: Path) -> None:
    with listen(Settings(uds=path)):
        with pytest.raises(OSError, match=r"cannot listen at birthmark\.sock: another process"):
            listen(Settings(uds=path))
        assert path.is_socket()


def test_a_file_that_is_no_socket_is_left_alone(path: Path) -> None:
    path.write_text("precious")
    with pytest.raises(OSError, match=r"birthmark\.sock: expected a socket or nothing there"):
        listen(Settings(uds=path))
    assert path.read_text() == "precious"


def test_a_folder_that_is_not_there_is_an_error_that_names_the_path(path: Path) -> None:
    with pytest.raises(OSError, match=r"cannot listen at none/a\.sock: .*No such file"):
        listen(Settings(uds=Path("none/a.sock")))


def test_a_file_that_replaced_the_socket_is_not_removed(path: Path) -> None:
    listener = listen(Settings(uds=path))
    path.unlink()
    with listen(Settings(uds=path)):
        listener.close()
        assert path.is_socket()


def test_serve_prints_the_socket_and_removes_it_when_it_stops(
    path: Path, tmp_path: Path, publish: Callable[..., str]
) -> None:
    publish(tmp_path / "registry")
    root = str(Path(__file__).parents[3])
    command = [sys.executable, "-c", COMMAND, "--registry=registry", f"--uds={path}"]
    with subprocess.Popen(
        command, env=os.environ | {"PYTHONPATH": root}, text=True, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "Birthmark answers at unix:birthmark.sock\n"
        with httpx.Client(transport=httpx.HTTPTransport(uds=str(path)), timeout=30) as client:
            assert client.get("http://localhost/healthz").json() == {"status": "ok"}
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=30) == 0
    assert not path.exists()
