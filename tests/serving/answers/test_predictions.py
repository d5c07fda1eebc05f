"""From creates to answers: over HTTP, and alike from a model, its image and explanations.

A suite in ``predictions/`` has requests, each on a line, and for each the status and the JSON of
its answer, or the members that the case shows. The model is of a day of locks, drafts and pages,
and of ``.tmp`` files, half of which are locks.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import TypeAdapter

from birthmark.predictor.image.format import predict as look_up
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.predicates import BUILT_IN
from birthmark.predictor.trained import TrainedModel
from birthmark.serving.answers.json_answers import predict
from birthmark.serving.messages.requests import parse
from birthmark.serving.messages.responses import (
    ListExplained,
    ListResponse,
    OneExplained,
    OneResponse,
)
from birthmark.serving.models.loaded import LoadedModel, load_model
from birthmark.training.registry.versions import Registry
from birthmark_native import Image, InvalidRequestError
from tests.builders.lives import MONDAY, day_of_lives, files_of, life, names_of
from tests.cases import Case, suites
from tests.serving.services import served, settings_for

MANIFEST = {"serve": "rules", "point": "bounded", "trained_on": {"datasets": []}, "figures": []}
PREDICATES = ("lock", "size>16k", "lifespan<=5", "name:lock")
ANSWER = TypeAdapter[Any](OneResponse | ListResponse)
EXPLANATION = TypeAdapter[Any](OneExplained | ListExplained)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = day_of_lives(MONDAY, 300)
    rows += [life(b"%d.tmp" % n, 60.0 * n, n % 2 * 60 + 0.5, max_size=0) for n in range(300)]
    asked = [BUILT_IN[key] for key in PREDICATES]
    model = TrainedModel().train(files_of(*rows), names_of(*rows), asked, kinds=("rules",))
    path = tmp_path_factory.mktemp("predictions")
    Registry(path).publish(model.save, MANIFEST)
    return path


@pytest.fixture(scope="module")
def model(registry: Path) -> LoadedModel:
    return load_model(Registry(registry))


@pytest.fixture(scope="module")
def client(registry: Path) -> Iterator[httpx.Client]:
    with served(settings_for(registry)) as client:
        yield client


def check_others_refuse(model: LoadedModel, body: bytes, error: dict[str, Any]) -> None:
    """Check that the same body is refused in Python for the same reason."""
    with pytest.raises(InvalidRequestError) as refused:
        predict(model, body)
    assert (str(refused.value), refused.value.field) == (error["message"], error["field"])


def predictions(answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the predictions of an answer, of one file or of a list."""
    return answer["predictions"] if "predictions" in answer else [answer["prediction"]]


def check_others_answer(model: LoadedModel, body: bytes, answer: dict[str, Any]) -> None:
    """Check that the image and the model answer alike in Python, without a service."""
    assert json.loads(predict(model, body)[0]) == answer
    creates = parse(body).creates
    models = model.trained.of_kind(model.kind)
    yes = look_up(Image(compile_models(models, model.point)), creates)
    three_way = model.trained.answer(creates, model.kind, model.point)
    assert len(predictions(answer)) == len(creates)
    for row, found in enumerate(predictions(answer)):
        assert found["answers"] == {key: own.word(row) for key, own in three_way.items()}
        assert found["probabilities"] == {k: own.probability(row) for k, own in three_way.items()}
        for key, column in yes.items():
            is_yes = column[row].as_py()
            assert found["predicates"][key] == ("yes" if is_yes else "no")
            assert (found["answers"][key] == "yes") is is_yes
        assert found["predicates"].keys() == yes.keys()


def without_reasons(explained: dict[str, Any]) -> dict[str, Any]:
    """Return the answer that an explanation explains."""
    EXPLANATION.validate_python(explained, strict=True)
    for found in predictions(explained):
        found["predicates"] = {key: why["answer"] for key, why in found["predicates"].items()}
        del found["implied"], found["unseen"]
    return explained


def select(answer: Any, show: list[str]) -> Any:
    """Return what a case shows of an answer: these members of it and of its predictions, or all."""
    if isinstance(answer, list):
        return [select(each, show) for each in answer]
    within = {"prediction", "predictions"}
    return {
        key: select(value, show) if key in within else value
        for key, value in answer.items()
        if not show or key in within or any(fnmatch(key, pattern) for pattern in show)
    }


def format_json(value: Any, indent: str = "") -> str:
    """Return JSON in lines of at most 160 characters, where it can be divided."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent + line) <= 160 or not isinstance(value, dict | list):
        return line
    inner = f"\n{indent}  "
    if isinstance(value, list):
        (start, end), items = "[]", [format_json(each, inner[1:]) for each in value]
    else:
        start, end = "{}"
        items = [f"{json.dumps(key)}: {format_json(v, inner[1:])}" for key, v in value.items()]
    return f"{start}{inner}" + f",{inner}".join(items) + f"\n{indent}{end}"


def ask(client: httpx.Client, model: LoadedModel, body: bytes, show: list[str]) -> str:
    """Return the status and the answer to a request, after checking that all answer alike."""
    response = client.post("/v1/predictions", content=body)
    answer = response.json()
    explained = client.post("/v1/explanations", content=body).json()
    if response.is_error:
        assert explained == answer
        check_others_refuse(model, body, answer["error"])
        show = []
    else:
        ANSWER.validate_python(answer, strict=True)
        assert without_reasons(explained) == answer
        check_others_answer(model, body, answer)
        assert answer.pop("model") == model.version
    return f"{response.status_code} {format_json(select(answer, show))}"


@suites("serving/answers/predictions")
def test_creates_are_answered(case: Case, client: httpx.Client, model: LoadedModel) -> None:
    show = case.get("show").split()
    bodies = case["requests"].encode().splitlines()
    case.expect("\n".join(ask(client, model, body, show) for body in bodies))
