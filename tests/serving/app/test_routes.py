"""Tests also serving/app/application.py, serving/service/service.py."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter

from birthmark.predictor.predicates import FILE_PREDICATES, NAME_PREDICATES
from birthmark.serving.messages.responses import (
    ListExplained,
    OneExplained,
)

PREDICATES = {*FILE_PREDICATES, *(f"name:{name}" for name in NAME_PREDICATES)}


def ask(client: httpx.Client, body: object) -> Any:
    response = client.post("/v1/predictions", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_an_answer_has_few_warnings(client: httpx.Client) -> None:
    assert len(ask(client, [{"name": "a", "mode": 600}] * 100)["warnings"]) == 8


def explain(client: httpx.Client, body: object) -> Any:
    response = client.post("/v1/explanations", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_an_explanation_has_the_evidence_of_the_training_data(client: httpx.Client) -> None:
    body = explain(client, {"name": "x.lock"})
    TypeAdapter(OneExplained).validate_python(body, strict=True)
    predicates = body["prediction"]["predicates"]
    # 20 of the 20 files that it was trained on whose names end in .lock lived for 0.1 s.
    assert predicates["lifespan<=1"] == {
        "answer": "yes",
        "kind": "name",
        "evidence": {"component": "lock$", "n_m": 20, "n_a": 20},
        "score": 1.0,
        "threshold": math.ulp(0.0),
        "upper": None,
    }
    assert predicates["size>1M"] == {
        "answer": "no",
        "kind": "name",
        "evidence": {"component": None, "n_m": None, "n_a": None},
        "score": 0.0,
        "threshold": math.ulp(0.0),
        "upper": None,
    }


def test_explanations_agree_with_predictions(client: httpx.Client) -> None:
    names = [{"name": "x.lock"}, {"name_percent": "%E9.lock"}, {"name": "page.html"}]
    predicted, explained = ask(client, names), explain(client, names)
    TypeAdapter(ListExplained).validate_python(explained, strict=True)
    for prediction in explained["predictions"]:
        answers = prediction["predicates"].items()
        prediction["predicates"] = {key: answer["answer"] for key, answer in answers}
        assert (prediction.pop("implied"), prediction.pop("unseen")) == ({}, [])
    assert explained == predicted


def test_at_most_a_thousand_files_are_explained_at_once(client: httpx.Client) -> None:
    files = [{"name": "a"}] * 1001
    assert client.post("/v1/predictions", json=files).status_code == 200
    response = client.post("/v1/explanations", json=files)
    assert response.status_code == 422
    assert "at most 1000 files, found 1001" in response.json()["error"]["message"]


def test_heads_have_only_the_needed_fields(client: httpx.Client) -> None:
    response = client.post("/v1/predictions", json={"name": "a"})
    needed = {"date", "content-length", "content-type", "x-content-type-options", "x-request-id"}
    assert set(response.headers) == needed


@pytest.mark.parametrize("content_type", ["application/x-www-form-urlencoded", "text/plain"])
def test_a_body_is_json_with_any_content_type(client: httpx.Client, content_type: str) -> None:
    headers = {"content-type": content_type}
    response = client.post("/v1/predictions", content=b'{"name": "a"}', headers=headers)
    assert response.status_code == 200


def test_the_model_is_described_with_its_training_data(client: httpx.Client) -> None:
    body = client.get("/v1/model").json()
    assert body["version"] == ask(client, {"name": "a"})["model"]
    assert body["kind"] == "name"
    assert body["created"].endswith("+00:00")
    assert set(body["predicates"]) == PREDICATES
    assert body["trained_on"]["files"] == 40
    assert body["figures"] == []


def test_a_service_with_a_model_is_up_and_ready(client: httpx.Client) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}


def test_the_service_describes_itself_and_names_no_other_host(client: httpx.Client) -> None:
    text = client.get("/openapi.json").text
    guide = (Path(__file__).parents[3] / "docs" / "serving.md").read_text()
    paths = set(client.get("/openapi.json").json()["paths"])
    assert paths == {
        "/v1/predictions",
        "/v1/explanations",
        "/v1/model",
        "/v1/model/image",
        "/v1/hints",
        "/v1/hints/report",
        "/v1/history",
        "/healthz",
        "/readyz",
        "/metrics",
    }
    assert {path for path in paths if f"{path}`" not in guide and f"{path} " not in guide} == set()
    assert "://" not in text
    assert client.get("/docs").status_code == 404
