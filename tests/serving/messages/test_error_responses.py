"""Every error has the same shape.

Tests also serving/messages/errors.py, serving/messages/excerpts.py, serving/messages/html.py.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.serving.access import tokens
from birthmark.serving.app import routes
from birthmark.serving.messages import errors, html, requests
from birthmark.serving.messages.requests import Choice, parse, parsed
from birthmark.serving.metrics import hook_reports
from birthmark.serving.settings import Settings
from birthmark_native import InvalidRequestError, requested


def detail(response: httpx.Response) -> dict[str, Any]:
    """Return the error in `response`, after checking its shape and status."""
    assert response.headers["content-type"] == "application/json"
    body = json.loads(response.text, parse_constant=lambda text: pytest.fail(f"no JSON: {text}"))
    assert list(body) == ["error"]
    error: dict[str, Any] = body["error"]
    assert list(error) == ["type", "message", "field", "value"]
    assert response.status_code == errors.TYPES[error["type"]]
    assert error["message"]
    return error


MANY_MEMBERS = "{" + ",".join(f'"member{n}": 1' for n in range(240_000)) + "}"
"""An object of unknown members, each of which would be a separate error."""


@pytest.mark.parametrize(
    "body",
    [
        MANY_MEMBERS,
        f"[{MANY_MEMBERS}]",
        MANY_MEMBERS[:-1] + ', "name": "a"}',
        json.dumps({"x" * 1_000_000: 1}),
        json.dumps({"x": "y" * 1_000_000}),
        json.dumps({"name": "a" * 1_000_000}),
        json.dumps({"name": "a", "mode": [0] * 200_000}),
        json.dumps([[0] * 200_000]),
        json.dumps({"name": "a", "time": "2" * 30_000}),
        json.dumps([{}] * 100_000),
        json.dumps({"name": "a" * 1_000_000, "name_base64": "a" * 30_000}),
    ],
    ids=lambda body: f"{body[:20]}, {len(body)}",
)
def test_an_error_reports_the_first_fault_shortened(body: str) -> None:
    def hinted(body: bytes) -> object:
        return requested([body], "hint")

    for read in (parse, hinted, partial(parsed, Choice), partial(parsed, hook_reports.Report)):
        with pytest.raises(InvalidRequestError) as refused:
            read(body.encode())
        error = refused.value
        assert len(json.dumps([str(error), error.field, error.found])) < 1500


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/predictions"),
        ("POST", "/v1/explanations"),
        ("POST", "/v1/hints"),
        ("POST", "/v1/hints/report"),
        ("PUT", "/v1/model"),
        ("GET", "/v1/predictions"),
        ("POST", "/" + "x" * 10_000),
        ("PATCH", "/v1/model"),
    ],
)
@pytest.mark.parametrize("size", [1000, 16_000, 1_900_000])
def test_every_error_is_short(client: httpx.Client, method: str, path: str, size: int) -> None:
    for body in (MANY_MEMBERS[: size - 1] + "}", json.dumps({"x" * size: "y"})):
        response = client.request(method, path, content=body)
        assert detail(response)
        assert len(response.content) < 2000


def test_large_bodies_are_read_beside_the_event_loop(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop reads only short bodies, as others wait meanwhile."""
    read: dict[bool, list[int]] = {True: [0], False: [0]}

    def noted(reader: Callable[..., Any], at: int) -> Callable[..., Any]:
        def note(*arguments: Any) -> Any:
            try:
                asyncio.get_running_loop()
                read[True].append(len(arguments[at]))
            except RuntimeError:
                read[False].append(len(arguments[at]))
            return reader(*arguments)

        return note

    for module, name, at in (
        (requests, "files_of", 0),
        (requests, "check_object", 0),
    ):
        monkeypatch.setattr(module, name, noted(getattr(module, name), at))
    for files in (1, 100, 2000):
        body = json.dumps([{"name": "a" * 100, "mode": 420.0}] * files).encode()
        for path in ("/v1/explanations", "/v1/hints/report"):
            client.post(path, content=body)
        client.put("/v1/model", content=body)
    assert max(read[True]) <= routes.SHORT
    assert max(read[False]) > 100_000


def test_a_long_value_is_shown_by_its_beginning(client: httpx.Client) -> None:
    error = detail(client.post("/v1/predictions", json={"name": "a" * 5000}))
    assert error["message"] == "expected 1 to 1024 bytes, found 5000"
    assert len(error["value"]) < 250
    assert error["value"].endswith("aaa…")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{"name": "\xff"}',
        b"[" * 100_000,
    ],
)
def test_invalid_json_gets_400(client: httpx.Client, body: bytes) -> None:
    error = detail(client.post("/v1/predictions", content=body))
    assert error["type"] == "invalid_json"
    assert "line 1 column" in error["message"]


def test_a_body_beyond_the_limit_gets_413_and_the_connection_stays_open(
    client: httpx.Client,
) -> None:
    body = b'{"name": "a"}'.ljust(5_000_000)
    chunks = (body[start : start + 65536] for start in range(0, len(body), 65536))
    for content in (body, chunks):
        response = client.post("/v1/predictions", content=content)
        assert detail(response)["type"] == "body_too_large"
        assert "2000000 bytes" in detail(response)["message"]
        assert client.get("/healthz").status_code == 200


def test_an_unknown_path_gets_404(client: httpx.Client) -> None:
    assert detail(client.get("/v2/predictions"))["type"] == "not_found"
    assert detail(client.get("/v1/model/"))["type"] == "not_found"


def test_a_method_that_a_path_does_not_take_gets_405(client: httpx.Client) -> None:
    response = client.get("/v1/predictions")
    assert detail(response)["type"] == "method_not_allowed"
    assert response.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/v1/predictions"), ("GET", "/v1/model"), ("GET", "/readyz")]
)
def test_every_path_that_needs_a_model_gets_503_without_one(
    served: Callable[..., Any], settings: Settings, method: str, path: str
) -> None:
    with served(settings) as client:
        error = detail(client.request(method, path, content='{"name": "a"}'))
    assert error["type"] == "no_model"
    assert str(settings.registry) in error["message"]


def test_a_failure_inside_gets_500_without_its_particulars(
    client: httpx.Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    eventually: Callable[..., bool],
) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr("birthmark.serving.app.routes._explained", fail)
    response = client.post("/v1/explanations", json={"name": "a"})
    assert detail(response)["type"] == "internal"
    assert "secret" not in response.text
    assert eventually(lambda: "a secret" in caplog.text)


def test_every_answer_forbids_browsers_to_guess_its_type(client: httpx.Client) -> None:
    file = {"name": "a.lock"}
    answers = [
        client.post("/v1/predictions", json=file),
        client.post("/v1/predictions", json={}),
        client.post("/v1/predictions", content=b"x" * 3_000_000),
        client.post("/v1/explanations", json=file),
        *map(client.get, ("/", "/metrics", "/healthz", "/v1/model", "/nowhere", "/openapi.json")),
    ]
    assert {answer.status_code for answer in answers} == {200, 404, 413, 422}
    for answer in answers:
        assert answer.headers.get_list("x-content-type-options") == ["nosniff"], answer.url


def test_every_type_of_error_is_in_the_guide() -> None:
    guide = (Path(__file__).parents[3] / "docs" / "serving.md").read_text()
    assert {kind for kind in errors.TYPES if f"`{kind}`" not in guide} == set()


BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/nowhere", "/models/20010101T000000Z-000000", "/audits/none"])
def test_a_browser_gets_a_page_that_names_no_place_on_this_host(
    client: httpx.Client, path: str
) -> None:
    shown = client.get(path, headers=BROWSER)
    assert (shown.status_code, shown.headers["vary"]) == (404, "accept")
    assert shown.headers["content-type"].startswith("text/html")
    assert "<h1>There is no such page</h1>" in shown.text
    assert '<a href="/">' in shown.text
    assert "registry" not in shown.text
    assert "default-src 'none'" in shown.headers["content-security-policy"]
    assert detail(client.get(path))["type"] in ("not_found", "no_version")


def test_a_browser_that_posts_gets_json(client: httpx.Client) -> None:
    assert detail(client.post("/v1/predictions", content=b"{", headers=BROWSER))


def test_a_browser_without_a_token_gets_a_challenge_and_a_page(
    settings: Settings, publish: Callable[..., str], served: Callable[..., Any]
) -> None:
    file = settings.registry.parent / "tokens.json"
    tokens.add(file, "nas1", ["predict"])
    publish(settings.registry)
    with served(settings.model_copy(update={"tokens": file})) as client:
        shown = client.get("/", headers=BROWSER)
    assert shown.status_code == 401
    assert "Basic" in shown.headers["www-authenticate"]
    assert "<h1>A token is needed</h1>" in shown.text


def test_pages_exist_only_for_known_errors() -> None:
    assert html.TEXTS.keys() <= errors.TYPES.keys()
