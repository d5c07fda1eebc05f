"""``PUT /v1/model``, and helpers that wait for another image."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.serving.server import run
from birthmark.serving.server.front import Front
from birthmark.serving.settings import Settings
from birthmark.training.registry.versions import Registry

IMAGE = "/v1/model/image"


@pytest.fixture
def registry(tmp_path: Path, publish: Callable[..., str]) -> Path:
    publish(tmp_path / "registry", heat=True)
    return tmp_path / "registry"


@pytest.fixture
def client(
    waits: Callable[[], bool],
    served: Callable[..., Any],
    settings_for: Callable[..., Settings],
    registry: Path,
) -> Iterator[httpx.Client]:
    with served(settings_for(registry)) as client:
        yield client


def test_a_stored_version_answers_once_it_is_chosen(
    client: httpx.Client, registry: Path, publish: Callable[..., str]
) -> None:
    before = client.get("/v1/model").json()["version"]
    stored = publish(registry, current=False, heat=True)
    assert client.get("/v1/model").json()["version"] == before
    response = client.put("/v1/model", json={"version": stored})
    assert response.json() == {"before": before, "current": stored}
    assert client.get("/v1/model").json()["version"] == stored
    assert (registry / "current").read_text().strip() == stored


def test_a_version_that_is_not_there_or_damaged_is_not_chosen(
    client: httpx.Client, registry: Path, publish: Callable[..., str]
) -> None:
    before = client.get("/v1/model").json()["version"]
    damaged = publish(registry, current=False, heat=True)
    part = next(path for path in (registry / "versions" / damaged).rglob("*.json"))
    part.write_bytes(part.read_bytes()[:-2])
    for version, status, kind in [
        ("../../etc", 404, "no_version"),
        ("20010101T000000Z-000000", 404, "no_version"),
        (damaged, 409, "damaged_version"),
    ]:
        response = client.put("/v1/model", json={"version": version})
        assert (response.status_code, response.json()["error"]["type"]) == (status, kind)
    assert client.put("/v1/model", json={}).json()["error"]["field"] == "version"
    assert client.get("/v1/model").json()["version"] == before


def test_a_version_of_another_release_is_not_chosen(client: httpx.Client, registry: Path) -> None:
    before = client.get("/v1/model").json()["version"]
    manifest = {"serve": "name", "point": "accurate"}
    older = Registry(registry).store(
        lambda to: (to / "model.json").write_text('{"format": 3}'), manifest
    )
    error = client.put("/v1/model", json={"version": older}).json()["error"]
    assert error["type"] == "damaged_version"
    assert "is of an earlier release" in error["message"]
    assert (registry / "current").read_text().strip() == before


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch, eventually: Callable[..., bool]) -> Callable[[], bool]:
    """Return a function that returns whether a request waits for another image, within a time."""
    fronts: list[Front] = []

    class Noted(Front):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            fronts.append(self)

    monkeypatch.setattr(run, "Front", Noted)
    return lambda: eventually(lambda: fronts[0].native.parked() == 1)


@pytest.mark.parametrize("prefer", ["respond-async, WAIT = 1; foo=1", 'wait="1"'])
def test_a_preference_to_wait_is_read_as_rfc_7240_writes_it(
    client: httpx.Client, prefer: str
) -> None:
    tag = client.get(IMAGE).headers["etag"]
    response = client.get(IMAGE, headers={"if-none-match": tag, "prefer": prefer})
    assert (response.status_code, response.headers["preference-applied"]) == (304, "wait=1")


@pytest.mark.parametrize("prefer", ["", "wait", "wait=-1", "wait=1.5", "await=10"])
def test_another_preference_is_ignored(client: httpx.Client, prefer: str) -> None:
    tag = client.get(IMAGE).headers["etag"]
    response = client.get(IMAGE, headers={"if-none-match": tag, "prefer": prefer})
    assert response.status_code == 304
    assert "preference-applied" not in response.headers


def test_nobody_waits_longer_than_five_minutes(client: httpx.Client) -> None:
    response = client.get(IMAGE, headers={"prefer": "wait=100000000000000000000"})
    assert response.headers["preference-applied"] == "wait=300"


def wait_for(client: httpx.Client, tag: str, seconds: int) -> httpx.Response:
    return client.get(IMAGE, headers={"if-none-match": tag, "prefer": f"wait={seconds}"})


def test_a_client_with_the_image_waits_and_gets_the_next_at_once(
    client: httpx.Client,
    registry: Path,
    publish: Callable[..., str],
    waits: Callable[[], bool],
) -> None:
    tag = client.get(IMAGE).headers["etag"]
    found: list[httpx.Response] = []
    thread = threading.Thread(target=lambda: found.append(wait_for(client, tag, 300)))
    thread.start()
    assert waits()
    assert thread.is_alive()
    assert client.get("/healthz").status_code == 200
    version = publish(registry, "tmp", heat=True)
    thread.join(60)
    (response,) = found
    assert response.status_code == 200
    assert response.headers["etag"].startswith(f'"{version}-')
    assert response.headers["preference-applied"] == "wait=300"
    assert response.content == client.get(IMAGE).content


def test_a_wait_in_vain_ends_with_304(client: httpx.Client) -> None:
    tag = client.get(IMAGE).headers["etag"]
    response = wait_for(client, tag, 1)
    assert response.status_code == 304
    assert response.elapsed >= timedelta(seconds=1)
    assert wait_for(client, '"another"', 300).status_code == 200  # there is one


def test_waiting_clients_are_answered_at_once_when_the_service_stops(
    served: Callable[..., Any],
    settings_for: Callable[..., Settings],
    registry: Path,
    waits: Callable[[], bool],
) -> None:
    found: list[httpx.Response] = []
    with served(settings_for(registry)) as client:
        tag = client.get(IMAGE).headers["etag"]
        other = httpx.Client(base_url=client.base_url, timeout=60)
        thread = threading.Thread(target=lambda: found.append(wait_for(other, tag, 300)))
        thread.start()
        assert waits()
    thread.join(60)
    other.close()
    assert [response.status_code for response in found] == [304]
