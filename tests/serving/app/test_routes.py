"""Tests also serving/app/application.py, serving/fast_path/, serving/service/service.py."""

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
    ListResponse,
    OneExplained,
    OneResponse,
)

PREDICATES = {*FILE_PREDICATES, *(f"name:{name}" for name in NAME_PREDICATES)}


def ask(client: httpx.Client, body: object) -> Any:
    response = client.post("/v1/predictions", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_one_file_gets_one_prediction_with_every_predicate(client: httpx.Client) -> None:
    body = ask(client, {"name": "x.lock", "mode": "0600", "uid": 1, "gid": 1})
    TypeAdapter(OneResponse).validate_python(body, strict=True)
    assert set(body) == {"model", "kind", "point", "prediction"}
    assert body["kind"] == "name"
    assert body["prediction"]["name"] == "x.lock"
    assert set(body["prediction"]["predicates"]) == PREDICATES


def test_the_answers_are_those_of_the_training_data(client: httpx.Client) -> None:
    predicates = ask(client, {"name": "x.lock"})["prediction"]["predicates"]
    assert predicates["lifespan<=1"] == "yes"
    assert predicates["size>1M"] == "no"


def test_a_decimal_mode_that_was_probably_meant_in_octal_causes_a_warning(
    client: httpx.Client,
) -> None:
    body = ask(client, {"name": "x.lock", "mode": 600})
    TypeAdapter(OneResponse).validate_python(body, strict=True)
    assert body["warnings"] == [
        'mode: the number 600 is decimal, 1130 in octal; for the mode 0600 send the string "0600"'
    ]
    assert "warnings" not in ask(client, {"name": "x.lock", "mode": "600"})
    for mode in (0o600, 0o644, 0o755, 0o1777, 0o2755, 0, 7):
        assert "warnings" not in ask(client, {"name": "x.lock", "mode": mode}), mode
    files = [{"name": "a", "mode": mode} for mode in (420, 644, "644", 755, 1777)]
    body = ask(client, files)
    TypeAdapter(ListResponse).validate_python(body, strict=True)
    assert [warning.split(" is decimal")[0] for warning in body["warnings"]] == [
        "[1].mode: the number 644",
        "[3].mode: the number 755",
        "[4].mode: the number 1777",
    ]
    assert len(ask(client, [{"name": "a", "mode": 600}] * 100)["warnings"]) == 8


def explain(client: httpx.Client, body: object) -> Any:
    response = client.post("/v1/explanations", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_explanations_carry_the_same_warnings(client: httpx.Client) -> None:
    for body in ({"name": "a", "mode": 600}, [{"name": "a"}, {"name": "a", "mode": 644}]):
        assert explain(client, body)["warnings"] == ask(client, body)["warnings"]
    assert "warnings" not in explain(client, {"name": "a", "mode": "600"})


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


def test_a_list_gets_a_list_in_its_order_with_each_name_as_it_was_sent(
    client: httpx.Client,
) -> None:
    names = [{"name_percent": "caf%E9.lock"}, {"name": "index.html"}, {"name_base64": "6S5sb2Nr"}]
    body = ask(client, names)
    TypeAdapter(ListResponse).validate_python(body, strict=True)
    assert set(body) == {"model", "kind", "point", "predictions"}
    echoed = [
        {member: text for member, text in prediction.items() if member.startswith("name")}
        for prediction in body["predictions"]
    ]
    assert echoed == names
    answers = [p["predicates"]["lifespan<=1"] for p in body["predictions"]]
    assert answers == ["yes", "no", "yes"]


def test_an_empty_list_gets_an_empty_list(client: httpx.Client) -> None:
    assert ask(client, [])["predictions"] == []


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
