"""Requests that a web page may have made a browser send change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.serving.access.paths import SAFE, changes
from birthmark.serving.app.application import create_app
from birthmark.serving.settings import Settings

REPORT = b'{"host": "nas1", "device": "/dev/birthmark", "counters": {}}'
JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def known(
    served: Callable[..., Any],
    publish: Callable[..., str],
    settings_for: Callable[..., Settings],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[httpx.Client]:
    registry = tmp_path_factory.mktemp("hosts") / "registry"
    publish(registry)
    with served(settings_for(registry, known_hosts="nas1.example, NAS2")) as client:
        yield client


def changed(client: httpx.Client, **fields: str) -> list[httpx.Response]:
    """Return the answers to all requests that change something."""
    version = client.get("/v1/model").json()["version"]
    choice = b'{"version": "%b"}' % version.encode()
    headers = JSON | {name.replace("_", "-"): value for name, value in fields.items()}
    return [
        client.put("/v1/model", content=choice, headers=headers),
        client.post("/v1/hints/report", content=REPORT, headers=headers),
    ]


KNOWN = ["LOCALHOST:8325", "127.0.0.1", "127.9.9.9:1", "[::1]:80", "nas1.example:8325", "nas2."]


@pytest.mark.parametrize("host", KNOWN)
def test_under_a_known_name_something_may_be_changed(known: httpx.Client, host: str) -> None:
    assert [each.status_code for each in changed(known, host=host)] == [200, 204]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8325", "10.0.0.1", "127.0.0.1.evil.example", "nas1", ""]
)
def test_under_an_unknown_name_nothing_is_changed(known: httpx.Client, host: str) -> None:
    """After DNS rebinding the Host is the name of the attacker's page."""
    for response in changed(known, host=host):
        assert response.status_code == 421
        assert response.json()["error"]["type"] == "unknown_host"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://localhost:1", "https://nas1.example", ""]
)
def test_requests_of_another_hosts_page_are_refused(known: httpx.Client, origin: str) -> None:
    fields = {"host": "localhost", "origin": origin}
    asked = known.post("/v1/predictions", json={"name": "a"}, headers=fields)
    for response in [*changed(known, **fields), asked]:
        assert response.status_code == 403
        assert response.json()["error"]["type"] == "foreign_origin"


def test_the_services_own_page_may_change_something(known: httpx.Client) -> None:
    fields = {"host": "localhost:8325", "origin": "http://localhost:8325"}
    asked = known.post("/v1/predictions", json={"name": "a"}, headers=fields)
    codes = [response.status_code for response in [*changed(known, **fields), asked]]
    assert codes == [200, 204, 200]


@pytest.mark.parametrize(
    "media_type", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""]
)
def test_a_request_that_changes_something_must_be_json(
    known: httpx.Client, media_type: str
) -> None:
    """A page can send other content types to other hosts without a CORS preflight."""
    for response in changed(known, content_type=media_type):
        assert response.status_code == 415
        assert response.json()["error"]["type"] == "not_json"


def test_json_may_have_parameters(known: httpx.Client) -> None:
    found = changed(known, content_type="Application/JSON; charset=utf-8")
    assert [each.status_code for each in found] == [200, 204]


def test_predictions_need_no_known_host_and_no_content_type(known: httpx.Client) -> None:
    """They change nothing, and old clients send them so."""
    fields = {"host": "elsewhere.example", "content-type": "text/plain"}
    for path in ("/v1/predictions", "/v1/explanations"):
        assert known.post(path, content=b'{"name": "a"}', headers=fields).status_code == 200


def test_every_path_either_reads_or_changes_something_or_predicts() -> None:
    """A new path must be protected from web pages, or be a prediction."""
    questions = {("POST", f"/v1/{name}") for name in ("predictions", "explanations", "hints")}
    every = create_app(Settings()).openapi()["paths"]
    posted = {(method.upper(), path) for path, methods in every.items() for method in methods}
    found = {(method, path) for method, path in posted if method not in SAFE}
    assert {each for each in posted if changes(*each)} == found - questions
    assert questions < found


def test_requests_over_a_unix_socket_need_no_known_host(
    served: Callable[..., Any],
    publish: Callable[..., str],
    settings_for: Callable[..., Settings],
    tmp_path: Path,
) -> None:
    publish(tmp_path / "registry")
    with served(settings_for(tmp_path / "registry", uds=tmp_path / "socket")) as client:
        assert [each.status_code for each in changed(client, host="any.example")] == [200, 204]


def test_invalid_host_names_are_refused() -> None:
    with pytest.raises(ValueError, match="without ports, separated by commas, found 'http://a'"):
        Settings(known_hosts="nas1, http://a")
