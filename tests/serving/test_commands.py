from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
from typer.testing import CliRunner

from birthmark.commands.image import image
from birthmark.commands.predict import predict
from birthmark.commands.rules import rules
from birthmark.commands.serve import serve
from birthmark.features import from_requests
from birthmark.predictor.image.format import predict as predict_rows
from birthmark.training.registry.published import NoModelError
from birthmark.training.registry.thresholds import THRESHOLDS
from birthmark.training.registry.versions import Registry
from birthmark_native import Image
from tests.builders.abstaining import abstain

COMMAND = "import typer; from birthmark.commands.serve import serve; typer.run(serve)"


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory, publish: Callable[..., str]) -> Path:
    path = tmp_path_factory.mktemp("commands") / "registry"
    publish(path)
    return path


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    app = typer.Typer(rich_markup_mode=None)
    for command in (serve, predict, rules, image):
        app.command()(command)
    return app


@pytest.fixture
def run(app: typer.Typer, registry: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.setenv("BIRTHMARK_REGISTRY", str(registry))
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def test_predict_answers_in_words_with_its_evidence(run: Callable[..., Any]) -> None:
    text = run("predict", "x.lock", "--mode", "0600").stdout
    assert "\x1b" not in text
    rows = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    assert ["lifespan<=1", "yes", "–", "as 20 of 20 files named *.lock were"] in [
        [*row[:3], "  ".join(row[3:])] for row in rows
    ]
    assert ["size>1M", "unsure", "–", "no part of the name says so"] in rows


def test_in_a_narrow_pipe_all_evidence_is_wrapped(
    run: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    wide = " ".join(run("predict", "x.lock", "--model", "able").stdout.split())
    monkeypatch.setenv("COLUMNS", "200")
    assert "20 of 20 files" in run("predict", "x.lock", "--model", "able").stdout
    assert "of 20 files" in wide


@pytest.mark.parametrize("kind", ["name", "able"])
def test_predict_prints_the_explanations_of_the_service(
    run: Callable[..., Any],
    served: Callable[..., Any],
    settings_for: Callable[..., Any],
    registry: Path,
    kind: str,
) -> None:
    known = {"mode": "0644", "uid": 1, "gid": 1, "directory": "u1"}
    options = [f"--{option}={value}" for option, value in known.items()]
    with served(settings_for(registry, model=kind)) as client:
        for name in ("x.lock", "é.html"):
            answer = client.post("/v1/explanations", json={"name": name} | known).json()
            printed = run("predict", name, *options, f"--model={kind}", "--json").stdout
            assert json.loads(printed) == answer
            assert answer["kind"] == kind


def test_a_name_that_is_no_utf_8_is_taken_from_the_command_line(run: Callable[..., Any]) -> None:
    body = json.loads(run("predict", os.fsdecode(b"caf\xe9.lock"), "--json").stdout)
    assert body["prediction"]["name_percent"] == "caf%E9.lock"
    assert body["prediction"]["predicates"]["lifespan<=1"]["answer"] == "yes"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["predict", "a/b"], "name: expected a name in its directory"),
        (["predict", "a", "b"], "NAME: expected one name, or --explain"),
        (["predict", ""], "name: expected 1 to 1024 bytes"),
        (["predict", "a", "--mode", "0888"], "mode: expected a string of octal digits"),
        (
            ["predict", "a", "--uid", "-1"],
            "uid: expected a whole number from 0 to 4294967295, found -1",
        ),
        (["predict", "a", "--directory", "/x"], "directory: expected a name in its directory"),
        (
            ["predict", "a", "--model", "x"],
            "'BIRTHMARK_MODEL'): Input should be 'name', 'able', 'rules', 'forest' or 'best'",
        ),
        (["serve", "--port", "65536"], "'BIRTHMARK_PORT'): Input should be less than or equal to"),
    ],
)
def test_a_wrong_argument_is_named_with_its_value_and_what_was_expected(
    run: Callable[..., Any], arguments: list[str], words: str
) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split())


def test_without_a_model_predict_names_the_registry(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    result = run("predict", "a", "--registry", str(tmp_path))
    assert isinstance(result.exception, NoModelError)
    assert str(tmp_path) in str(result.exception)


@pytest.fixture
def process(registry: Path) -> Iterator[subprocess.Popen[str]]:
    """Return ``birthmark serve`` in a separate process, its port from the environment."""
    environment = os.environ | {"BIRTHMARK_PORT": "0"}
    command = [sys.executable, "-c", COMMAND, "--registry", str(registry)]
    with subprocess.Popen(
        command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        yield process
        process.kill()


def test_serve_prints_its_url_answers_and_stops_on_sigterm(
    process: subprocess.Popen[str],
) -> None:
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line.startswith("Birthmark answers at http://127.0.0.1:")
    with httpx.Client(base_url=line.split()[-1], timeout=30) as client:
        # An idle connection must not keep it from stopping.
        assert client.get("/readyz").status_code == 200
        process.send_signal(signal.SIGTERM)
        out, log = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert "answers now" in log
    assert "Traceback" not in log


def test_an_image_answers_as_the_published_model_does(
    run: Callable[..., Any], tmp_path: Path
) -> None:
    summary = json.loads(run("image", "--out", str(tmp_path / "a.image"), "--json").stdout)
    content = (tmp_path / "a.image").read_bytes()
    assert (summary["bytes"], summary["kind"]) == (len(content), "name")
    compiled = Image(content)
    assert summary["predicates"] == len(compiled.predicates)
    asked = from_requests([{"name": b"x.lock"}, {"name": b"page.html"}])
    for row, name in enumerate(("x.lock", "page.html")):
        answered = json.loads(run("predict", name, "--json").stdout)["prediction"]["predicates"]
        found = {key: column[row].as_py() for key, column in predict_rows(compiled, asked).items()}
        assert found == {key: answer["answer"] == "yes" for key, answer in answered.items()}


def test_an_image_lists_its_abstaining_predicates_and_never_answers_yes_for_them(
    run: Callable[..., Any], registry: Path, tmp_path: Path
) -> None:
    abstain(Registry(registry), "lifespan<=1")
    try:
        summary = json.loads(run("image", "--out", str(tmp_path / "a.image"), "--json").stdout)
        assert "abstaining  lifespan<=1" in run("image", "--out", str(tmp_path / "b")).stdout
    finally:
        (registry / THRESHOLDS).unlink()
    assert summary["abstaining"] == ["lifespan<=1"]
    compiled = Image((tmp_path / "a.image").read_bytes())
    assert "lifespan<=1" in compiled.abstained
    answers = predict_rows(compiled, from_requests([{"name": b"x.lock"}]))
    assert not answers["lifespan<=1"][0].as_py()
    assert answers["lifespan<=5"][0].as_py()


def test_rules_of_an_unknown_predicate_are_an_error_with_a_suggestion(
    run: Callable[..., Any],
) -> None:
    refused = run("rules", "--predicate", "lifespn<=1")
    assert "'lifespn<=1' is no predicate (did you mean 'lifespan<=1'?)" in str(refused.exception)


def test_an_explanation_shows_every_yes_with_its_rule(
    run: Callable[..., Any],
) -> None:
    lines = run("predict", "--explain", "x.lock", "page.html").stdout.splitlines()
    at = lines.index("x.lock")
    assert lines.index("page.html") > at
    assert any(line.endswith("lifespan<=1: yes, –") for line in lines)
    assert any("gone within 1 s, as 20 of 20 files named *.lock were" in line for line in lines)
    assert any("yes from" in line and line.endswith("without a bound") for line in lines)
    listed = json.loads(run("rules", "--predicate", "lifespan<=1", "--json").stdout)
    assert listed[0] == {
        "predicate": "lifespan<=1",
        "rule": "lock$",
        "yes": True,
        "decides": 20.0,
        "n_m": 20.0,
        "n_a": 20.0,
    }
    assert "lock$" in run("rules", "--top", "3").stdout
