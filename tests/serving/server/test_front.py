"""Tests also data/common/orphans.py, serving/server/open_files.py."""

from __future__ import annotations

import resource
import signal
import ssl
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from birthmark.serving.server.front import Front
from birthmark.serving.server.open_files import allow_files
from birthmark.serving.settings import Settings
from tests.serving.services import certified, total

REPORT = {"host": "nas1", "device": "/dev/birthmark", "counters": {"asked": 1}}


def test_answers_and_log_rows_of_all_threads_are_counted(
    started: Callable[..., Any],
    publish: Callable[..., str],
    eventually: Callable[..., bool],
    tmp_path: Path,
) -> None:
    publish(tmp_path / "registry", heat=True)
    log = ("--log-predictions", str(tmp_path / "rows"), "--log-minutes", "0.001")
    with started(tmp_path / "registry", tmp_path, "--threads", "2", *log) as service:

        def counts() -> tuple[float, float]:
            rows = total(service, 'birthmark_log_rows_total{outcome="written"')
            return rows, total(service, "birthmark_predictions_total")

        assert counts() == (0, 0)
        for _ in range(20):
            with service.client() as client:
                answer = client.post("/v1/predictions", json={"name": "a.lock"}).json()
        expected = (20, 20 * len(answer["prediction"]["predicates"]))
        assert eventually(lambda: counts() == expected)


def test_another_model_answers_without_a_pause(
    settings: Settings,
    served: Callable[..., Any],
    publish: Callable[..., str],
    eventually: Callable[..., bool],
) -> None:
    publish(settings.registry)
    with served(settings) as client:
        version = publish(settings.registry)

        def newest() -> bool:
            response = client.post("/v1/predictions", json={"name": "a.lock"})
            assert response.status_code == 200
            return bool(response.json()["model"] == version)

        assert eventually(newest)


def test_it_ends_on_sigterm_with_exit_code_0_and_removes_its_socket(
    started: Callable[..., Any], publish: Callable[..., str], tmp_path: Path
) -> None:
    publish(tmp_path / "registry")
    place = tmp_path / "socket"
    with started(tmp_path / "registry", tmp_path, "--uds", str(place), wait=False) as service:
        transport = httpx.HTTPTransport(uds=str(place))
        with httpx.Client(transport=transport, base_url="http://x", timeout=300) as client:
            assert client.get("/healthz").status_code == 200
        service.process.send_signal(signal.SIGTERM)
        assert service.process.wait(60) == 0
        assert not place.exists()


def test_sighup_reads_a_renewed_certificate_and_keeps_the_old_one_if_it_is_invalid(
    started: Callable[..., Any],
    publish: Callable[..., str],
    eventually: Callable[..., bool],
    pair: tuple[Path, Path],
    tmp_path: Path,
) -> None:
    publish(tmp_path / "registry")
    files = tmp_path / "certificate.pem", tmp_path / "key.pem"
    for file, content in zip(files, pair, strict=True):
        file.write_bytes(content.read_bytes())
    options = ("--ssl-certfile", str(files[0]), "--ssl-keyfile", str(files[1]))
    with started(tmp_path / "registry", tmp_path, *options) as service:
        first = ssl.get_server_certificate(service.address)
        files[0].write_text("no certificate")
        service.process.send_signal(signal.SIGHUP)
        assert eventually(lambda: "the old certificate stays" in service.log.read_text())
        assert ssl.get_server_certificate(service.address) == first
        certified(tmp_path)
        service.process.send_signal(signal.SIGHUP)
        assert eventually(lambda: ssl.get_server_certificate(service.address) != first)


def test_only_the_front_names_the_token_and_the_scheme_of_a_request(
    settings: Settings, served: Callable[..., Any], publish: Callable[..., str]
) -> None:
    publish(settings.registry)
    with served(settings) as client:
        for owner in ("one", "other"):
            headers = {"x-birthmark-token": owner, "x-forwarded-proto": "https"}
            response = client.post("/v1/hints/report", json=REPORT, headers=headers)
            assert response.status_code == 204, "without tokens, all reports are of one owner"
        page = client.get("/", headers={"x-forwarded-proto": "https", "accept": "text/html"})
    assert "https://127" not in page.text


def test_the_limit_of_open_files_is_raised_for_connections(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (1024, 2048))
    monkeypatch.setattr(resource, "setrlimit", lambda kind, new: limits.append(new))
    assert allow_files(100) == 100
    assert allow_files(10_000) == 2048 - 512
    assert limits == [(2048, 2048)]
    assert "limited to 1536 connections, not 10000" in caplog.text


def test_rows_of_an_evicted_model_are_dropped_and_counted(tmp_path: Path) -> None:
    front, dropped = Front(Settings(registry=tmp_path), tmp_path / "application"), list[int]()
    native: Any = front.native
    answered = (1, "json", b"{}", b"", 0, 3, 0.0)
    front.native = SimpleNamespace(take_lines=list, take_log=lambda: ([answered], 2))  # type: ignore[assignment]
    sampler: Any = SimpleNamespace(drop=dropped.append)
    front._take(sampler)
    native.stop(1)
    assert dropped == [2, 3]
