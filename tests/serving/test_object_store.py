"""The service on a registry in an object store: a real server that speaks S3, which goes away."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.s3 import SECRET, running


def version(client: httpx.Client) -> str:
    """Return which version answers a prediction."""
    response = client.post("/v1/predictions", json={"name": "a.lock"})
    assert response.status_code == 200, response.text
    return str(response.json()["model"])


def test_the_service_follows_an_object_store_and_goes_on_while_it_is_away(
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
        first = publish(uri, card=True)
        with served(settings_for(uri)) as client:
            assert version(client) == first
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
            assert "it is not known what is published" in page.text
            assert client.get("/report").json()["error"]["type"] == "no_registry"
            assert client.put("/v1/model", json={"version": second}).status_code == 503
            assert client.get(f"/models/{first}").status_code == 200  # it was brought before

            store.start()
            third = publish(uri)
            assert eventually(lambda: version(client) == third)
            assert "birthmark_registry_read 1.0" in client.get("/metrics").text
    assert caplog.text.count("it is not known what is published") == 1
    assert SECRET not in caplog.text + page.text


def test_a_model_that_could_not_be_brought_is_tried_again_until_it_can(
    publish: Callable[..., str],
    served: Callable[..., Any],
    settings_for: Callable[..., Any],
    eventually: Callable[..., bool],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BIRTHMARK_CACHE", str(tmp_path / "cache"))
    with running(tmp_path) as store:
        uri = store.uri("site")
        published = publish(uri)
        shutil.rmtree(tmp_path / "cache")  # as on a machine that has not brought it yet
        part = store.objects / "site" / "versions" / published / "model.json"
        part.rename(tmp_path / "kept")
        part.symlink_to(part)  # the server cannot open it
        with served(settings_for(uri)) as client:
            failed = 'birthmark_model_loads_total{outcome="failed"} 1.0'
            assert eventually(lambda: failed in client.get("/metrics").text)
            assert client.get("/readyz").status_code == 503
            part.unlink()
            (tmp_path / "kept").rename(part)
            assert eventually(lambda: client.get("/readyz").status_code == 200)
            assert version(client) == published
