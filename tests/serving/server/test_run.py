from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from birthmark.data.common import durable
from birthmark.serving.server.run import listen, run, url
from birthmark.serving.settings import Settings


def settings(**values: Any) -> Settings:
    return Settings(**{"port": 0, **values})


def test_port_0_takes_a_free_port_which_the_url_has() -> None:
    with listen(settings()) as listener:
        port = listener.getsockname()[1]
        assert port > 0
        assert url(listener) == f"http://127.0.0.1:{port}"
        socket.create_connection(("127.0.0.1", port)).close()


def test_an_ipv6_address_stands_in_brackets() -> None:
    try:
        listener = listen(settings(host="::1"))
    except OSError:
        pytest.skip("this host has no IPv6")
    with listener:
        assert url(listener).startswith("http://[::1]:")


def test_a_port_in_use_is_an_error_that_names_it() -> None:
    with listen(settings()) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(OSError, match=f"cannot listen at 127.0.0.1 port {port}: .*in use"):
            listen(settings(port=port))


def test_a_full_disk_for_the_log_is_reported_and_the_service_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(directory: Path) -> None:
        raise OSError(28, "No space left on device", str(directory))

    monkeypatch.setattr(durable, "check_writable", full)
    occupied = socket.create_server(("127.0.0.1", 0))
    own = settings(
        port=occupied.getsockname()[1], registry=tmp_path, log_predictions=tmp_path / "log"
    )
    with occupied, pytest.raises(OSError, match="cannot listen"):
        run(own, print)
    assert "predictions are served but not logged" in caplog.text
    assert str(tmp_path / "log") in caplog.text


def test_a_missing_registry_is_an_error_with_its_name_and_what_to_do(
    tmp_path: Path,
) -> None:
    (tmp_path / "registry").mkdir()
    mistyped = tmp_path / "regsitry"
    expected = rf"{mistyped}: is not a directory \(did you mean 'registry'\?\): .*birthmark train"
    with pytest.raises(ValueError, match=expected):
        run(settings(registry=mistyped), print)


def test_an_unknown_variable_causes_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("BIRTHMARK_TOKEN", "tokens.json")
    monkeypatch.setenv("BIRTHMARK_PORT", "0")
    with pytest.raises(ValueError, match="other hosts could connect there"):
        run(settings(host="0.0.0.0"), print)
    (line,) = [line for line in caplog.messages if "no such setting" in line]
    assert line.startswith("BIRTHMARK_TOKEN: there is no such setting (did you mean 'BIRTHMARK_TO")


def test_connections_send_without_waiting_for_acknowledgements() -> None:
    """Without TCP_NODELAY an answer in two packets takes 40 ms; asyncio checks the protocol."""
    with listen(settings()) as listener:
        assert listener.proto == socket.IPPROTO_TCP
