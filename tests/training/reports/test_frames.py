from __future__ import annotations

import math

import pyarrow as pa
import pytest

from birthmark.predictor import BUILT_IN, TrainedModel
from birthmark.training.evaluate.evaluation import evaluate
from birthmark.training.reports.frames import accuracy, side_by_side

FILE_KEYS, NAME_KEYS = ("lock", "lifespan<=1"), ("name:lock",)


@pytest.fixture(scope="module")
def evaluation(days: list[tuple[pa.Table, pa.Table]]) -> pa.Table:
    asked = [BUILT_IN[key] for key in (*FILE_KEYS, *NAME_KEYS)]
    model = TrainedModel(calibration=0).fit(*days[0], asked, kinds=["name", "able"])
    return evaluate(model, *days[1])


def test_accuracy_has_the_columns_of_table_6_5(evaluation: pa.Table) -> None:
    table = accuracy(evaluation)
    headings = ["Correct", "Occurs", "Guess", "Δ-Error", "Incorrect", "FalsePos"]
    assert list(table.columns) == headings
    assert list(table.index) == list(FILE_KEYS)
    lock = table.loc["lock"]
    assert lock["Correct"] + lock["Incorrect"] == 100
    assert lock["Occurs"] == pytest.approx(100 / 3)
    assert lock["Guess"] == pytest.approx(200 / 3)


def test_of_names_it_is_table_6_8(evaluation: pa.Table) -> None:
    assert list(accuracy(evaluation, subject="name").index) == ["lock"]
    assert accuracy(evaluation, model="forest").empty


def test_kinds_side_by_side_are_table_6_16(evaluation: pa.Table) -> None:
    table = side_by_side(evaluation)
    assert list(table.columns) == ["able", "name"]
    assert list(table.index) == list(FILE_KEYS)
    assert table.loc["lock", "name"] == accuracy(evaluation).loc["lock", "Correct"]
    assert not math.isnan(table.to_numpy().sum())
