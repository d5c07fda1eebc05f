"""The contents of the service's log."""

from __future__ import annotations

import errno
import io
import json
import logging
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from birthmark.serving.app import routes
from birthmark.serving.log import service_log
from birthmark.serving.log.prediction_log import PredictionLog
from birthmark.serving.settings import Settings

SECRET = "resignation-letter.doc"


@pytest.fixture(scope="module")
def directory(publish: Callable[..., str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory: Path = tmp_path_factory.mktemp("logs")
    publish(directory / "registry")
    return directory


def lines(log: Path) -> list[dict[str, Any]]:
    """Return the log's lines, each of which must be JSON."""
    return [json.loads(line) for line in log.read_text().splitlines()]


def test_json_logs_have_a_line_for_each_request_and_no_name(
    started: Callable[..., Any], directory: Path
) -> None:
    options = ("--log-format", "json", "--log-access")
    with (
        started(directory / "registry", directory, *options) as service,
        service.client() as client,
    ):
        mine = {"x-request-id": "mine-1"}
        client.post("/v1/predictions", json={"name": SECRET}, headers=mine)
        client.post("/v1/predictions", json={"name": f"a/{SECRET}"})
        client.get(f"/home/{SECRET}")
        client.post("/v1/explanations", json={"name": SECRET, "directory": SECRET})
    found = [line for line in lines(service.log) if "route" in line]
    asked = [(e["method"], e["route"], e["status"]) for e in found if e["route"] != "/readyz"]
    assert asked == [
        ("POST", "/v1/predictions", 200),
        ("POST", "/v1/predictions", 422),
        ("GET", "other", 404),
        ("POST", "/v1/explanations", 200),
    ]
    (first,) = [line for line in found if line["request"] == "mine-1"]
    assert first["bytes"] > 20
    assert 0 < first["seconds"] < 60
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", first["time"])
    assert SECRET not in service.log.read_text()


def test_every_response_has_the_id_that_its_request_had_or_a_new_one(client: httpx.Client) -> None:
    def answered(**headers: str) -> str:
        return client.get("/healthz", headers=headers).headers["x-request-id"]

    name = "x-request-id"
    assert answered(**{name: "a-1.b_2"}) == "a-1.b_2"
    made = [answered(), answered(), answered(**{name: "a b"}), answered(**{name: "a" * 65})]
    assert len(set(made)) == 4
    assert all(re.fullmatch(r"[0-9a-f]+-[0-9a-f]+", each) for each in made)
    refused = client.post("/v1/predictions", content=b"{", headers={name: "here"})
    assert (refused.status_code, refused.headers[name]) == (400, "here")


def test_terminal_control_characters_are_escaped() -> None:
    try:
        raise ValueError("a\x1b[31m")
    except ValueError:
        place = sys.exc_info()
    record = logging.LogRecord("x", logging.ERROR, "", 0, "%s", ("b\n\x1b\u202e",), place)
    text = service_log.Text().format(record)
    assert r"b\n\x1b\u202e" in text
    assert r"ValueError: a\x1b[31m" in text
    assert all(line.isprintable() for line in text.split("\n"))


@pytest.fixture
def records() -> Iterator[Callable[[Settings], list[str]]]:
    """Return a function that formats the log by settings, until the test ends."""
    root = logging.getLogger()
    handlers: list[logging.Handler] = []
    level = root.level
    root.setLevel(logging.INFO)

    def record(settings: Settings) -> list[str]:
        found: list[str] = []

        class Handler(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                found.append(self.format(record))

        service_log.set_up(settings)
        handler = Handler()
        handler.setFormatter(
            service_log.Json() if settings.log_format == "json" else service_log.Text()
        )
        root.addHandler(handler)
        handlers.append(handler)
        return found

    yield record
    service_log.set_up(Settings())
    root.setLevel(level)
    for handler in handlers:
        root.removeHandler(handler)


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize("names", [False, True])
def test_an_error_that_quotes_a_request_is_logged_without_it_unless_it_may(
    served: Callable[..., Any],
    directory: Path,
    records: Callable[[Settings], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    settings_for: Callable[..., Settings],
    form: str,
    names: bool,
) -> None:
    def fails(model: object, body: bytes) -> int:
        raise RuntimeError(body)

    monkeypatch.setattr(routes, "_explained", fails)
    settings = settings_for(
        directory / "registry", log_format=form, log_names=names, log_access=True
    )
    found = records(settings)
    with served(settings) as client:
        response = client.post("/v1/explanations", json={"name": SECRET})
    assert (response.status_code, response.json()["error"]["type"]) == (500, "internal")
    (failed,) = [each for each in found if "RuntimeError" in each]
    assert "in fails" in failed, "the log has the place of the failure"
    assert response.headers["x-request-id"] in failed
    assert (SECRET in failed) is names
    (access,) = [each for each in found if re.search(r"status\W+500\b", each)]
    assert ("path" in access) is names


@pytest.mark.parametrize("names", [False, True])
def test_errors_of_the_prediction_log_do_not_quote_names(
    records: Callable[[Settings], list[str]], tmp_path: Path, names: bool
) -> None:
    found = records(Settings(log_names=names))

    def fails(asked: object) -> Any:
        raise ValueError(f"expected no {SECRET}")

    log = PredictionLog(tmp_path / "log")
    log.start()
    log.offer(fails, None, 1, 1)
    log.close()
    (line,) = [each for each in found if "not logged" in each]
    assert "ValueError" in line or names
    assert (SECRET in line) is names


def test_a_line_of_text_stays_one_line(records: Callable[[Settings], list[str]]) -> None:
    found = records(Settings(log_names=True))
    service_log.note([("1", "GET", "other", "/a\nb c", 404, 0.5, 3)])
    (line,) = found
    assert line.endswith(
        "method=GET route=other status=404 seconds=0.5 bytes=3 path=/a\\x0ab\\x20c request=1"
    )


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("format", ["text", "json"])
def test_lines_written_at_once_are_those_of_records(
    monkeypatch: pytest.MonkeyPatch, format: str, names: bool
) -> None:
    answered = [
        ("a-1", "GET", "other", '/a\n"b c', 404, 0.5, 3),
        ("a-2", "POST", "/v1/hints", "/v1/hints", 200, 0.00001234, 1),
    ]
    written = []
    for handlers in ([], [logging.NullHandler()]):
        with monkeypatch.context() as patch:
            root = logging.getLogger()
            patch.setattr(root, "handlers", [])
            patch.setattr(root, "level", logging.WARNING)
            patch.setattr(sys, "stderr", stream := io.StringIO())
            patch.setattr(logging.Formatter, "formatTime", lambda *_: "now")
            service_log.set_up(Settings(log_format=format, log_names=names))
            for handler in handlers:
                root.addHandler(handler)
            service_log.note(answered)
        written.append(
            [re.sub('"time": "[^"]*"', "", line) for line in stream.getvalue().split("\n")]
        )
    assert written[0] == written[1]
    assert len(written[0]) == 3


def test_lines_that_cannot_be_written_are_an_error_of_logging_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", logging.WARNING)
    monkeypatch.setattr(sys, "stderr", Full())
    failed: list[logging.LogRecord] = []
    monkeypatch.setattr(logging.Handler, "handleError", lambda _, record: failed.append(record))
    service_log.set_up(Settings())
    service_log.note([("a-1", "GET", "other", "/a", 404, 0.5, 3)])
    assert [record.getMessage() for record in failed] == ["answered"]
