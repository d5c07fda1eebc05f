"""Yes, no and unsure of a calibrated model, in every format."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.predictor import TrainedModel, births
from birthmark.serving.answers.json_answers import explain_one, predict
from birthmark.serving.client.client import Client
from birthmark.serving.messages.requests import parse
from birthmark.serving.models.loaded import LoadedModel, load_model
from birthmark.training.registry.thresholds import THRESHOLDS
from birthmark.training.registry.versions import Registry
from tests.builders.abstaining import abstain

MANIFEST = {"serve": "rules", "point": "bounded", "trained_on": {"datasets": []}, "figures": []}


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("three") / "day"
    ingest([str(DAYS[0])], path)
    return path


@pytest.fixture(scope="module")
def registry(day: Path) -> Path:
    """A registry with rules trained on the first bundled day."""
    model = TrainedModel().train(read_files(day), read_names(day), kinds=("rules",))
    Registry(day.parent / "registry").publish(model.save, MANIFEST)
    return day.parent / "registry"


@pytest.fixture(scope="module")
def model(registry: Path) -> LoadedModel:
    return load_model(Registry(registry))


@pytest.fixture(scope="module")
def creates(day: Path, model: LoadedModel) -> pa.Table:
    return model.trained.creates("file", births(read_files(day)))


@pytest.fixture
def url(started: Callable[..., Any], registry: Path, tmp_path: Path) -> Iterator[str]:
    with started(registry, tmp_path) as service:
        yield service.url


def asked(model: LoadedModel, **file: Any) -> dict[str, Any]:
    answer, *_ = predict(model, json.dumps(file).encode())
    found: dict[str, Any] = json.loads(answer)["prediction"]
    return found


@pytest.mark.deep
def test_images_give_the_same_three_answers_as_models(
    model: LoadedModel, creates: pa.Table
) -> None:
    answers = model.three_way_answers(creates)
    expected = model.trained.answer(creates, "rules", "bounded")
    assert answers.keys() == expected.keys()
    for key, own in answers.items():
        assert own.words.equals(expected[key].words), key
        assert own.probabilities.equals(expected[key].probabilities), key
    for word in ("yes", "no", "unsure"):
        assert any(own.is_word(word).any() for own in answers.values())


def test_json_has_the_same_three_answers_as_tables(model: LoadedModel, creates: pa.Table) -> None:
    for name in creates["name"].to_pylist()[:200]:
        found = asked(model, name=name.decode())
        alone = {"name": pa.array([name], pa.binary())}
        columns = {
            field.name: alone.get(field.name, pa.nulls(1, field.type)) for field in creates.schema
        }
        asked_of = pa.table(columns, schema=creates.schema)
        three_way, yes = model.three_way_answers(asked_of), model.answers(asked_of)
        answers = {key: ("no", "yes")[own[0].as_py()] for key, own in yes.items()}
        assert found["predicates"] == answers
        assert found["answers"] == {key: own.word(0) for key, own in three_way.items()}
        assert found["probabilities"] == {key: own.probability(0) for key, own in three_way.items()}


def test_a_predicate_without_a_yes_in_audits_is_never_a_yes(
    model: LoadedModel, registry: Path
) -> None:
    name = "conftest.c"
    (key, *_) = [key for key, word in asked(model, name=name)["answers"].items() if word == "yes"]
    abstain(Registry(registry), key)
    abstaining = load_model(Registry(registry))
    (registry / THRESHOLDS).unlink()
    found = asked(abstaining, name=name)
    assert found["predicates"][key] == "no"
    assert found["answers"][key] == "unsure"
    explained = explain_one(abstaining, parse(json.dumps({"name": name}).encode()))["prediction"]
    assert explained["answers"][key] == "unsure"


def test_a_model_that_was_not_calibrated_answers_yes_or_unsure(day: Path, tmp_path: Path) -> None:
    own = TrainedModel(calibration=0).train(read_files(day), read_names(day), kinds=("rules",))
    Registry(tmp_path).publish(own.save, MANIFEST | {"point": "accurate"})
    found = asked(load_model(Registry(tmp_path)), name="conftest.c")
    yes = {key for key, answer in found["predicates"].items() if answer == "yes"}
    assert {key for key, word in found["answers"].items() if word == "yes"} == yes
    assert set(found["answers"].values()) == {"yes", "unsure"}
    assert set(found["probabilities"].values()) == {None}


def test_a_client_gets_the_three_answers_over_http(url: str) -> None:
    with Client(url, deadline=20) as client:
        one = client.predict("conftest.c")
        many = client.predict_many(["conftest.c", "a.lock"], three=True)
        plain = client.predict_many(["conftest.c"])
    assert one.answered
    assert set(one.answers.values()) == {"yes", "no", "unsure"}
    for key in one.answers:
        assert many.answers(key)[0].as_py() == one.answer(key)
        assert many.probabilities(key)[0].as_py() == one.probability(key)
        assert plain.yes(key)[0].as_py() is one.yes(key)
    assert plain.table is not None
    assert {field.type for field in plain.table.schema} == {pa.bool_()}
    assert plain.answers("lock").to_pylist() == ["unsure"]


@pytest.mark.parametrize("key", ["lokc", "lock answer"])
def test_a_predicate_that_the_model_does_not_know_is_refused(url: str, key: str) -> None:
    with Client(url, deadline=20) as client:
        one = client.predict("conftest.c")
        many = client.predict_many(["conftest.c"], three=True)
    for ask in (one.yes, one.answer, one.probability, many.yes, many.answers, many.probabilities):
        with pytest.raises(ValueError, match=f"'{key}' is no predicate.*expected one of lock"):
            ask(key)
