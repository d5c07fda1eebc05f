"""The service on a registry in an object store: a real S3 server, which goes away."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.layout_hint.replay.model_image import read_image
from birthmark.predictor.allocation.verdicts import USUAL_ROOM
from tests.s3 import SECRET, running

pytestmark = pytest.mark.deep


def version(client: httpx.Client) -> str:
    """Return the version that answers a prediction."""
    response = client.post("/v1/predictions", json={"name": "a.lock"})
    assert response.status_code == 200, response.text
    return str(response.json()["model"])


def test_the_service_follows_an_object_store_and_still_answers_while_it_is_away(
    publish: Callable[..., str],
    served: Callable[..., Any],
    settings_for: Callable[..., Any],
    eventually: Callable[..., bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("BIRTHMARK_CACHE", str(tmp_path / "cache"))
    with running(tmp_path) as store:
        uri = store.uri("site")
        first = publish(uri, card=True, heat=True)
        with served(settings_for(uri)) as client:
            assert version(client) == first
            assert read_image(uri, USUAL_ROOM) == client.get("/v1/model/image").content
            second = publish(uri)
            assert eventually(lambda: version(client) == second)
            missing = client.put("/v1/model", json={"version": "20010101T000000Z-abcdef"})
            assert missing.json()["error"]["type"] == "no_version"
            assert client.put("/v1/model", json={"version": first}).status_code == 200
            assert version(client) == first

            store.stop()
            away = "birthmark_registry_read 0.0"
            assert eventually(lambda: away in client.get("/metrics").text)
            assert version(client) == first
            assert client.get("/readyz").status_code == 200
            page = client.get("/")
            assert page.status_code == 200
            assert "a newer model goes unnoticed" in page.text
            assert client.get("/report").json()["error"]["type"] == "no_registry"
            assert client.put("/v1/model", json={"version": second}).status_code == 503
            assert client.get(f"/models/{first}").status_code == 200  # it was loaded before

            store.start()
            third = publish(uri)
            assert eventually(lambda: version(client) == third)
            assert "birthmark_registry_read 1.0" in client.get("/metrics").text
    assert caplog.text.count("the registry cannot be read") == 1
    assert SECRET not in caplog.text + page.text


def test_a_model_that_could_not_be_loaded_is_retried(
    publish: Callable[..., str],
    served: Callable[..., Any],
    settings_for: Callable[..., Any],
    eventually: Callable[..., bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BIRTHMARK_CACHE", str(tmp_path / "cache"))
    with running(tmp_path) as store, relay(store.port, without=b"/model.json") as between:
        published = publish(store.uri("site"))
        with served(settings_for(store.uri("site", between.port))) as client:
            failed = 'birthmark_model_loads_total{outcome="failed"} 1.0'
            assert eventually(lambda: failed in client.get("/metrics").text)
            assert client.get("/readyz").status_code == 503
            between.whole.set()
            assert eventually(lambda: client.get("/readyz").status_code == 200)
            assert version(client) == published
            assert failed in client.get("/metrics").text  # after any number of attempts


@dataclass
class Relay:
    """A proxy between a client and a server that cuts some requests off until `whole`."""

    port: int
    whole: threading.Event


@contextmanager
def relay(port: int, without: bytes) -> Iterator[Relay]:
    """Forward to `port`, but hold back requests with some bytes until released."""
    whole = threading.Event()

    def passed(source: socket.socket, sink: socket.socket) -> None:
        with source, sink, suppress(OSError):
            while data := source.recv(65536):
                if without in data.partition(b"\r\n")[0] and not whole.is_set():
                    break
                sink.sendall(data)
            for each in (source, sink):
                each.shutdown(socket.SHUT_RDWR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                client, _ = listener.accept()
                server = socket.create_connection(("127.0.0.1", port))
                for way in ((client, server), (server, client)):
                    threading.Thread(target=passed, args=way, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield Relay(listener.getsockname()[1], whole)
        listener.shutdown(socket.SHUT_RDWR)
