"""``PUT /v1/model``, and helpers that wait for another image."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.serving.limits.limits import Limits
from birthmark.serving.service.long_polling import wanted_seconds
from birthmark.serving.settings import Settings
from birthmark.training.registry.versions import Registry

IMAGE = "/v1/model/image"


@pytest.fixture
def registry(tmp_path: Path, publish: Callable[..., str]) -> Path:
    publish(tmp_path / "registry", heat=True)
    return tmp_path / "registry"


@pytest.fixture
def client(
    served: Callable[..., Any], settings_for: Callable[..., Settings], registry: Path
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


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("wait=10", 10),
        ("respond-async, WAIT = 7; foo=1", 7),
        ('wait="5"', 5),
        ("wait=100000000000000000000", 300),
        ("", 0),
        ("wait", 0),
        ("wait=-1", 0),
        ("wait=1.5", 0),
        ("await=10", 0),
    ],
)
def test_a_preference_to_wait_is_read_as_rfc_7240_writes_it(prefer: str, seconds: int) -> None:
    assert wanted_seconds(prefer) == seconds


@pytest.fixture
def somebody_waits(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Return an event that is set once a request waits for another image."""
    waits, parked = threading.Event(), Limits.parked

    @contextmanager
    def noticed(self: Limits) -> Iterator[None]:
        with parked(self):
            waits.set()
            yield

    monkeypatch.setattr(Limits, "parked", noticed)
    return waits


def wait_for(client: httpx.Client, tag: str, seconds: int) -> httpx.Response:
    return client.get(IMAGE, headers={"if-none-match": tag, "prefer": f"wait={seconds}"})


def test_a_client_with_the_image_waits_and_gets_the_next_at_once(
    client: httpx.Client,
    registry: Path,
    publish: Callable[..., str],
    somebody_waits: threading.Event,
) -> None:
    tag = client.get(IMAGE).headers["etag"]
    found: list[httpx.Response] = []
    waits = threading.Thread(target=lambda: found.append(wait_for(client, tag, 300)))
    waits.start()
    assert somebody_waits.wait(60)
    assert waits.is_alive()
    assert client.get("/healthz").status_code == 200
    version = publish(registry, "tmp", heat=True)
    waits.join(60)
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
    somebody_waits: threading.Event,
) -> None:
    found: list[httpx.Response] = []
    with served(settings_for(registry)) as client:
        tag = client.get(IMAGE).headers["etag"]
        other = httpx.Client(base_url=client.base_url, timeout=60)
        waits = threading.Thread(target=lambda: found.append(wait_for(other, tag, 300)))
        waits.start()
        assert somebody_waits.wait(60)
    waits.join(60)
    other.close()
    assert [response.status_code for response in found] == [304]
