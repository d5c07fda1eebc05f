"""The history scope in answers: the one that the kinds of models use."""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from birthmark.data.follow.updates import MEDIA_TYPE
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.models.best import BestModels
from birthmark.predictor.models.kinds import BEST, KINDS
from birthmark.training.registry.versions import Registry
from birthmark_native import BM_TELLS_CALLER, BM_TELLS_DIRECTORY, BM_TELLS_NAME, HISTORY_BYTES
from tests.serving.services import served, settings_for, trained

TELLS = {
    "directory": (BM_TELLS_NAME, BM_TELLS_CALLER, BM_TELLS_DIRECTORY),
    "caller": (BM_TELLS_NAME, BM_TELLS_CALLER),
    "name": (BM_TELLS_NAME,),
    "nothing": (),
}
USUAL = ("rules", "able", "able", "name")
CHOSEN = {"lock": ("forest", "rules", "rules", "rules"), "name:lock": ("rules", "rules", "forest")}
"""Kinds for each of ``HISTORY_SCOPES``; other predicates have `USUAL`."""
SCOPES_USED = {
    "forest": list(HISTORY_SCOPES),
    "rules": ["nothing"] * 4,
    BEST: ["directory", "nothing", "name", "nothing"],
}


def history(scope: str) -> bytes:
    """Return a history of this scope."""
    return bytes(byte in TELLS[scope] for byte in range(HISTORY_BYTES))


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a registry with a model that serves the best kinds."""
    model = copy.copy(trained("lock", heat=False))
    best = BestModels({kind: model.models[kind] for kind in KINDS})
    for key in model.predicates:
        kinds = (CHOSEN.get(key, ()) + USUAL[len(CHOSEN.get(key, ())) :])[:4]
        best.choose(key, dict(zip(HISTORY_SCOPES, kinds, strict=True)))
    model.models = {**{kind: model.models[kind] for kind in KINDS}, BEST: best}
    manifest = {
        "serve": BEST,
        "kinds": {"accurate": best.choices},
        "point": "accurate",
        "figures": [],
    }
    manifest |= {"trained_on": {"datasets": ["lock"], "files": 40}}
    folder = tmp_path_factory.mktemp("told")
    Registry(folder).publish(model.save, manifest)
    return folder


@pytest.fixture(scope="module", params=SCOPES_USED)
def service(registry: Path, request: Any) -> Iterator[tuple[str, httpx.Client]]:
    """Return a kind, and a service that answers with it."""
    others = {} if request.param == BEST else {"model": request.param}
    with served(settings_for(registry, **others)) as client:
        yield request.param, client


def request(scope: str) -> dict[str, str]:
    return {"name": "x.lock", "history": base64.b64encode(history(scope)).decode()}


def test_json_answers_have_the_scope(service: tuple[str, httpx.Client]) -> None:
    kind, client = service
    rows = [request(scope) for scope in HISTORY_SCOPES]
    answer = client.post("/v1/predictions", json=rows).json()
    assert answer["kind"] == kind
    assert [each["told"] for each in answer["predictions"]] == SCOPES_USED[kind]
    explained = client.post("/v1/explanations", json=rows).json()
    assert [each["told"] for each in explained["predictions"]] == SCOPES_USED[kind]


def test_arrow_answers_have_the_scope(service: tuple[str, httpx.Client]) -> None:
    kind, client = service
    table = pa.table(
        {"name": ["x.lock"] * 4, "history": [history(scope) for scope in HISTORY_SCOPES]}
    )
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    response = client.post(
        "/v1/predictions?answers=three",
        content=sink.getvalue().to_pybytes(),
        headers={"content-type": MEDIA_TYPE},
    )
    with pa.ipc.open_stream(response.content) as reader:
        assert reader.read_all()["told"].to_pylist() == SCOPES_USED[kind]


def test_metrics_count_it(service: tuple[str, httpx.Client]) -> None:
    kind, client = service

    def counted() -> dict[str, float]:
        lines = client.get("/metrics").text.splitlines()
        own = [line for line in lines if line.startswith("birthmark_told_total")]
        words = (line.split('"')[1] for line in own)
        return dict(zip(words, (float(line.split()[-1]) for line in own), strict=True))

    before = counted()
    client.post("/v1/predictions", json=[request(scope) for scope in HISTORY_SCOPES])
    after = counted()
    expected = {scope: SCOPES_USED[kind].count(scope) for scope in HISTORY_SCOPES}
    assert {
        scope: after[scope] - before.get(scope, 0) for scope in HISTORY_SCOPES if expected[scope]
    } == {scope: count for scope, count in expected.items() if count}


def test_an_explanation_names_the_kind_that_answers(registry: Path) -> None:
    with served(settings_for(registry)) as client:
        answer = client.post(
            "/v1/explanations", json=[request(scope) for scope in HISTORY_SCOPES]
        ).json()
        found = [each["predicates"] for each in answer["predictions"]]
        assert [each["lock"]["kind"] for each in found] == list(CHOSEN["lock"])
        assert [each["name:lock"]["kind"] for each in found] == ["rules", "rules", "forest", "name"]
        assert "as 20 of 20 files named *.lock were" in unescape(client.get("/?name=x.lock").text)
