from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest
import typer
from prometheus_client.parser import text_string_to_metric_families
from pydantic import TypeAdapter
from typer.testing import CliRunner

from birthmark.commands.image import image
from birthmark.predictor.allocation.verdicts import HINTS, hint_image, verdicts
from birthmark.predictor.image.format import Image, checksum
from birthmark.serving.messages.responses import Verdict
from birthmark.serving.models.loaded import load_model
from birthmark.serving.settings import Settings
from birthmark.training.registry.versions import Registry
from tests.builders.abstaining import abstain

NAME, DIR, WRITE = 1, 2, 4


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory, publish: Callable[..., str]) -> Path:
    path = tmp_path_factory.mktemp("hints") / "registry"
    publish(path, heat=True)
    return path


@pytest.fixture(scope="module")
def hinting(
    registry: Path, settings_for: Callable[..., Settings], served: Callable[..., Any]
) -> Iterator[httpx.Client]:
    with served(settings_for(registry)) as client:
        yield client


def ask(client: httpx.Client, /, **create: Any) -> int:
    response = client.post("/v1/hints", json=create)
    assert response.status_code == 200, response.text
    assert len(response.content) == 1
    return TypeAdapter(Verdict).validate_json(response.content)


def samples(client: httpx.Client, name: str, *labels: str) -> dict[tuple[str, ...], float]:
    return {
        tuple(sample.labels[label] for label in labels): sample.value
        for family in text_string_to_metric_families(client.get("/metrics").text)
        for sample in family.samples
        if sample.name == name
    }


def test_the_image_is_that_of_the_model_that_answers(hinting: httpx.Client, registry: Path) -> None:
    response = hinting.get("/v1/model/image")
    loaded = load_model(Registry(registry))
    assert response.status_code == 200
    assert response.content == hint_image(loaded.trained, loaded.kind, loaded.point)
    assert response.headers["content-type"] == "application/octet-stream"
    assert int(response.headers["content-length"]) == len(response.content)
    assert response.headers["etag"] == f'"{loaded.version}-{checksum(response.content):08x}"'
    assert tuple(Image(response.content).predicates) == HINTS


def test_the_command_line_makes_the_same_image(
    hinting: httpx.Client, registry: Path, tmp_path: Path
) -> None:
    command = typer.Typer()
    command.command()(image)
    out = tmp_path / "hints.image"
    options = ["--hints", "--registry", str(registry), "--out", str(out), "--json"]
    summary = json.loads(CliRunner().invoke(command, options).stdout)
    assert out.read_bytes() == hinting.get("/v1/model/image").content
    assert (summary["predicates"], summary["bytes"]) == (len(HINTS), out.stat().st_size)


def hot_logs(client: httpx.Client) -> int:
    answers = (ask(client, name=f"app{n}.log", uid=1) for n in range(20))
    return sum(answer == WRITE for answer in answers)


def test_the_image_is_for_a_region_of_the_size_that_is_set(
    registry: Path,
    settings_for: Callable[..., Settings],
    served: Callable[..., Any],
    hinting: httpx.Client,
    tmp_path: Path,
) -> None:
    command = typer.Typer()
    command.command()(image)
    options = ["--registry", str(registry), "--out", str(tmp_path / "image"), "--region", "16K"]
    CliRunner().invoke(command, [*options, "--hints"])
    with served(settings_for(registry, region="16K")) as client:
        assert client.get("/v1/model/image").content == (tmp_path / "image").read_bytes()
        # a third of 3000 bytes lies in the two blocks
        assert hot_logs(client) == 3
    assert hot_logs(hinting) == 20
    refused = CliRunner().invoke(command, options)
    assert (refused.exit_code, "expected --hints with it" in refused.output) == (2, True)


def test_a_head_request_gets_only_the_head(hinting: httpx.Client) -> None:
    whole, head = hinting.get("/v1/model/image"), hinting.head("/v1/model/image")
    assert (head.status_code, head.content) == (200, b"")
    for field in ("etag", "content-length", "content-type"):
        assert head.headers[field] == whole.headers[field]


def test_a_client_with_the_image_gets_304(hinting: httpx.Client) -> None:
    etag = hinting.get("/v1/model/image").headers["etag"]
    for wanted in (etag, f'"other", {etag}', f"W/{etag}", "*"):
        for method in ("GET", "HEAD"):
            answer = hinting.request(method, "/v1/model/image", headers={"if-none-match": wanted})
            assert (answer.status_code, answer.content) == (304, b"")
            assert answer.headers["etag"] == etag
    other = hinting.get("/v1/model/image", headers={"if-none-match": etag.replace("-", "+")})
    assert other.status_code == 200


@pytest.mark.parametrize(("region", "times"), [("4M", 0), ("1M", 1)])
def test_an_image_is_taken_as_stored_or_else_compiled_once_for_all_requests(
    registry: Path,
    settings_for: Callable[..., Settings],
    served: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    region: str,
    times: int,
) -> None:
    compiled = []

    def counted(*arguments: Any) -> bytes:
        compiled.append(arguments)
        return hint_image(*arguments)

    monkeypatch.setattr("birthmark.serving.models.loaded.hint_image", counted)
    with served(settings_for(registry, region=region)) as client:
        for _ in range(3):
            client.get("/v1/model/image")
            ask(client, name="x.lock")
    assert len(compiled) == times


def test_an_abstaining_hint_is_left_out_and_changes_the_image(
    tmp_path: Path,
    publish: Callable[..., str],
    settings_for: Callable[..., Settings],
    served: Callable[..., Any],
    eventually: Callable[..., bool],
) -> None:
    publish(tmp_path, heat=True)
    with served(settings_for(tmp_path)) as client:
        assert ask(client, name="x.lock") == NAME
        before = client.get("/v1/model/image")
        abstain(Registry(tmp_path), "HotName")
        assert eventually(lambda: ask(client, name="x.lock") == 0)
        assert ask(client, name="app.log") == WRITE
        after = client.get("/v1/model/image")
    assert Image(before.content).abstained == []
    assert Image(after.content).abstained == ["HotName"]
    assert tuple(Image(after.content).predicates) == HINTS
    assert before.headers["etag"] != after.headers["etag"]


def test_a_new_model_has_a_new_image_and_tag(
    tmp_path: Path,
    publish: Callable[..., str],
    settings_for: Callable[..., Settings],
    served: Callable[..., Any],
    eventually: Callable[..., bool],
) -> None:
    publish(tmp_path, heat=True)
    with served(settings_for(tmp_path)) as client:
        old = client.get("/v1/model/image")
        version = publish(tmp_path, suffix="pid", heat=True)
        assert eventually(lambda: client.get("/v1/model").json()["version"] == version)
        new = client.get("/v1/model/image", headers={"if-none-match": old.headers["etag"]})
        assert new.status_code == 200
        assert new.content != old.content
        assert ask(client, name="x.pid") == NAME


def test_a_create_is_hinted_as_the_training_data_were(hinting: httpx.Client) -> None:
    assert ask(hinting, name="x.lock", mode="0600", uid=1, gid=1) == NAME
    assert ask(hinting, name="app.log", mode=0o600) == WRITE
    assert ask(hinting, name="page.html", client="10.0.0.7") == 0
    assert ask(hinting, name_base64="6S5sb2Nr") == NAME
    assert ask(hinting, name_percent="%E9.log", time="2026-11-21T05:44:00Z") == WRITE
    assert ask(hinting, name="app.log", time="2026-11-21 05:44:00.1234567Z") == WRITE


def test_a_directory_never_gets_hints_for_files(hinting: httpx.Client) -> None:
    for name in ("x.lock", "app.log"):
        assert ask(hinting, name=name, is_directory=True) in (0, DIR)


def test_the_service_gives_the_hints_of_the_image(hinting: httpx.Client) -> None:
    names = [b"x.lock", b"app3.log", b"page1.html", b"lock", b".lock.log", b"\xe9.lock"]
    compiled = Image(hinting.get("/v1/model/image").content)
    asked = pa.table({"name": names, "directory": [False] * len(names)})
    hinted = verdicts(compiled, asked).to_pylist()
    for name, verdict in zip(names, hinted, strict=True):
        assert ask(hinting, name_percent="".join(f"%{byte:02x}" for byte in name)) == verdict
    assert any(hinted)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "name"),
        ({"name": "a", "name_base64": "YQ=="}, "name"),
        ({"name": "a/b"}, "name"),
        ({"name": "a", "is_directory": "tmp"}, "is_directory"),
        ({"name": "a", "directory": "tmp"}, "directory"),
        ({"name": "a", "mode": 0o40755}, "mode"),
        ({"name": "a", "history": ""}, "history"),
    ],
)
def test_an_invalid_create_is_refused(
    hinting: httpx.Client, body: dict[str, Any], field: str
) -> None:
    response = hinting.post("/v1/hints", json=body)
    assert response.status_code == 422
    assert response.json()["error"]["field"] == field


def test_hints_are_counted(
    registry: Path, settings_for: Callable[..., Settings], served: Callable[..., Any]
) -> None:
    with served(settings_for(registry)) as client:
        ask(client, name="x.lock")
        ask(client, name="page.html")
        counts = samples(client, "birthmark_hints_total", "hint", "answer")
    assert counts["HotName", "yes"] == 1
    assert counts["HotName", "no"] == 1
    assert counts["HotWrite", "no"] == 2


def test_without_a_model_and_with_one_that_knows_no_heat_there_are_no_hints(
    settings: Settings,
    publish: Callable[..., str],
    served: Callable[..., Any],
    eventually: Callable[..., bool],
) -> None:
    def error(client: httpx.Client) -> tuple[str, str]:
        answers = client.get("/v1/model/image"), client.post("/v1/hints", json={"name": "a"})
        assert [answer.status_code for answer in answers] == [503, 503]
        one, other = (answer.json()["error"]["type"] for answer in answers)
        return one, other

    with served(settings) as client:
        assert error(client) == ("no_model", "no_model")
        publish(settings.registry)
        assert eventually(lambda: client.get("/readyz").status_code == 200)
        assert error(client) == ("no_hints", "no_hints")
        assert client.post("/v1/predictions", json={"name": "a"}).status_code == 200
