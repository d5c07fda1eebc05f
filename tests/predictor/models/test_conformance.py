"""What every kind of models does; kinds are found by themselves."""

from __future__ import annotations

import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest
from pydantic import TypeAdapter
from sklearn.utils.estimator_checks import parametrize_with_checks

from birthmark.data.datasets import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.predictor import FILE_PREDICATES, births, models
from birthmark.predictor.answers.point import POINTS
from birthmark.predictor.image.format import Image, predict
from birthmark.predictor.models.compile import compile_models
from birthmark.predictor.models.kind import ModelKind
from birthmark.predictor.models.kinds import BEST, KINDS, Kind
from birthmark.predictor.models.model_set import RULES, ModelSet
from birthmark.predictor.parts import DamagedModelError
from birthmark.predictor.trained import TrainedModel

ASKED = ("lock", "size=zero", "lifespan<=5")
FEW = {"trees": 5, "rounds": 5}
"""Parameters of kinds that take long to learn otherwise."""

of_every_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainedModel:
    """Return models of every kind of a bundled day."""
    folder = tmp_path_factory.mktemp("day")
    ingest([str(DAYS[0])], folder)
    predicates = [FILE_PREDICATES[name] for name in ASKED]
    return TrainedModel(**FEW).train(read_files(folder), read_names(folder), predicates)


@pytest.fixture(scope="module")
def creates(tmp_path_factory: pytest.TempPathFactory, trained: TrainedModel) -> pa.Table:
    """Return the creates of another day, with some of which nothing is known."""
    folder = tmp_path_factory.mktemp("next")
    ingest([str(DAYS[1])], folder)
    known = trained.creates("file", births(read_files(folder)).slice(0, 200))
    unknown = [pa.nulls(3, field.type) for field in known.schema]
    return pa.concat_tables([known, pa.table(unknown, schema=known.schema)])


@of_every_kind
def test_no_rows_are_refused_as_scikit_learn_does(kind: ModelKind, creates: pa.Table) -> None:
    nothing = creates.slice(0, 0)
    for rows in (nothing, nothing.to_pandas()):
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
            kind.estimator().fit(rows, np.array([], bool))


def small(kind: ModelKind) -> Any:
    """Return an estimator that learns soon."""
    model = kind.estimator()
    return model.set_params(**{n: v for n, v in FEW.items() if n in model.get_params()})


def test_every_folder_of_a_kind_is_registered() -> None:
    (place,) = models.__path__
    assert sorted(path.parent.name for path in Path(place).glob("*/kind.py")) == sorted(KINDS)
    assert tuple(KINDS) == models.FOLDERS == get_args(Kind)[:-1]
    assert get_args(Kind)[-1] == BEST


def test_listing_the_kinds_imports_no_tables() -> None:
    program = "import sys, birthmark.predictor.models.kinds; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert not {"numpy", "pyarrow", "pydantic", "sklearn"} & set(done.stdout.decode().split())


@of_every_kind
def test_it_goes_by_the_word_of_its_folder(kind: ModelKind) -> None:
    assert KINDS[kind.name] is kind
    assert kind.models.kind == kind.name
    assert kind.title[0].isupper()


@of_every_kind
def test_its_parameters_are_those_of_the_whole_model_and_of_the_estimator(kind: ModelKind) -> None:
    own = set(kind.models.parameters)
    assert own <= TrainedModel().parameters.keys()
    assert own <= kind.estimator().get_params().keys()
    assert own <= inspect.signature(kind.models.model).parameters.keys()


@of_every_kind
def test_it_scores_from_0_to_1_and_is_a_yes_from_the_threshold_on(
    kind: ModelKind, trained: TrainedModel, creates: pa.Table
) -> None:
    scores = trained.scores(creates, kind.name)
    assert list(scores) == list(ASKED)
    for point in POINTS:
        for key, answers in trained.predict(creates, kind.name, point).items():
            threshold = trained.models[kind.name].point(key).at(point)
            assert ((scores[key] >= 0) & (scores[key] <= 1)).all()
            yes = scores[key] >= (np.inf if threshold is None else threshold)
            assert answers.to_pylist() == yes.tolist()


@of_every_kind
def test_it_is_loaded_as_it_was_saved(
    kind: ModelKind, trained: TrainedModel, creates: pa.Table, tmp_path: Path
) -> None:
    own = trained.models[kind.name]
    (first := tmp_path / "first").mkdir()
    (second := tmp_path / "second").mkdir()
    files = own.save(first)
    assert sorted(path.name for path in first.iterdir()) == sorted(files)
    loaded = kind.models.load(
        first, own, kind.models.own_parameters(trained.parameters), counts=True
    )
    assert loaded.save(second) == files
    for name in files:
        assert (first / name).read_bytes() == (second / name).read_bytes()
    for counts in (True, False):
        again = kind.models.load(
            first, own, kind.models.own_parameters(trained.parameters), counts=counts
        )
        for key, scores in own.scores(creates).items():
            assert np.array_equal(again.scores(creates)[key], scores)


@of_every_kind
def test_a_missing_part_is_named(kind: ModelKind, trained: TrainedModel, tmp_path: Path) -> None:
    own = trained.models[kind.name]
    for name in own.save(tmp_path):
        content = (tmp_path / name).read_bytes()
        (tmp_path / name).unlink()
        with pytest.raises(DamagedModelError, match=name):
            kind.models.load(
                tmp_path, own, kind.models.own_parameters(trained.parameters), counts=True
            )
        (tmp_path / name).write_bytes(content)


@of_every_kind
def test_its_evidence_is_as_declared_and_has_a_phrase(
    kind: ModelKind, trained: TrainedModel, creates: pa.Table
) -> None:
    declared = TypeAdapter(kind.evidence)
    scores = trained.scores(creates, kind.name)
    explained = trained.explain(creates, kind.name)
    assert len(explained) == len(creates)
    for row, answers in enumerate(explained):
        for key, answer in answers.items():
            declared.validate_python(answer.evidence, strict=True)
            assert answer.evidence.keys() == kind.evidence.__annotations__.keys()
            assert json.loads(json.dumps(answer.evidence)) == answer.evidence
            assert kind.in_words(answer.evidence)
            assert answer.score == pytest.approx(scores[key][row], abs=1e-12)


@of_every_kind
@pytest.mark.parametrize("point", POINTS)
def test_its_image_answers_as_the_models_do(
    kind: ModelKind, point: Any, trained: TrainedModel, creates: pa.Table
) -> None:
    if kind.models.sections.__func__ is ModelSet.sections.__func__:
        with pytest.raises(ValueError, match="no image can be made of models of kind"):
            compile_models(trained.models[kind.name], point)
        return
    image = Image(compile_models(trained.models[kind.name], point))
    found = predict(image, creates)
    for key, answers in trained.predict(creates, kind.name, point).items():
        assert found[key].equals(answers)


@of_every_kind
def test_its_rules_are_a_table_or_refused(kind: ModelKind, trained: TrainedModel) -> None:
    if kind.models.rules is ModelSet.rules:
        with pytest.raises(ValueError, match="not made of rules"):
            trained.rules(kind.name)
        return
    rules = trained.rules(kind.name)
    assert rules.schema.equals(RULES)
    assert rules["decides"].to_pylist() == sorted(rules["decides"].to_pylist(), reverse=True)


@of_every_kind
def test_an_estimator_of_a_loaded_model_predicts_as_it_does(
    kind: ModelKind, trained: TrainedModel, creates: pa.Table
) -> None:
    own, known = trained.models[kind.name], creates.slice(0, 100)
    for key, scores in own.scores(known).items():
        likely = kind.estimator.of(own[key]).predict_proba(own.columns(known))
        assert np.array_equal(likely[:, 1], scores)


@parametrize_with_checks(list(map(small, KINDS.values())), expected_failed_checks=lambda _: {})
def test_estimators_keep_to_the_conventions_of_scikit_learn(estimator, check) -> None:
    check(estimator)
