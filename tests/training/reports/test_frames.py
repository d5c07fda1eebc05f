from __future__ import annotations

import csv
import math
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from birthmark.predictor import BUILT_IN, TrainedModel
from birthmark.training.evaluate.evaluation import evaluate
from birthmark.training.reports.frames import (
    accuracy,
    beside,
    side_by_side,
    thesis_accuracy,
    thesis_side_by_side,
)
from birthmark.training.reports.thesis import TRACES

FILE_KEYS, NAME_KEYS = ("lock", "lifespan<=1"), ("name:lock",)


@pytest.fixture(scope="module")
def evaluation(days: list[tuple[pa.Table, pa.Table]]) -> pa.Table:
    asked = [BUILT_IN[key] for key in (*FILE_KEYS, *NAME_KEYS)]
    model = TrainedModel(calibration=0).train(*days[0], asked, kinds=["name", "able"])
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


def test_names_are_in_table_6_8(evaluation: pa.Table) -> None:
    assert list(accuracy(evaluation, subject="name").index) == ["lock"]
    assert accuracy(evaluation, model="forest").empty


def test_kinds_side_by_side_are_table_6_16(evaluation: pa.Table) -> None:
    table = side_by_side(evaluation)
    assert list(table.columns) == ["able", "name"]
    assert list(table.index) == list(FILE_KEYS)
    assert table.loc["lock", "name"] == accuracy(evaluation).loc["lock", "Correct"]
    assert not math.isnan(table.to_numpy().sum())


def test_the_thesiss_figures_of_accuracy_are_as_transcribed(shared: Path) -> None:
    headings = ("correct", "occurs", "guess", "delta_error", "incorrect", "falsepos")
    cells = 0
    with (shared / "thesis/tables-6.5-6.8.csv").open() as file:
        for row in csv.DictReader(file):
            printed = thesis_accuracy(row["trace"], row["subject"]).loc[row["predicate"]]
            assert list(printed) == [float(row[f"{heading}_pct"]) for heading in headings]
            cells += len(printed)
    own = [thesis_accuracy(trace, subject) for trace in TRACES for subject in ("file", "name")]
    assert cells == sum(table.size for table in own)
    assert list(own[0].columns) == [
        "Correct",
        "Occurs",
        "Guess",
        "Δ-Error",
        "Incorrect",
        "FalsePos",
    ]


def test_the_thesiss_figures_of_able_are_as_transcribed(shared: Path) -> None:
    with (shared / "thesis/table-6.16-able-vs-name.csv").open() as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        printed = thesis_side_by_side(row["trace"]).loc[row["predicate"]]
        assert list(printed) == [float(row[f"{kind}_correct_pct"]) for kind in ("able", "name")]
    assert len(rows) == sum(len(thesis_side_by_side(trace)) for trace in TRACES)


def test_a_trace_that_the_thesis_has_not_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'campus' is no trace of the thesis .*'CAMPUS'"):
        thesis_accuracy("campus")


def test_tables_stand_beside_each_other_column_by_column(evaluation: pa.Table) -> None:
    own, printed = accuracy(evaluation), thesis_accuracy("CAMPUS")
    table = beside({"here": own, "CAMPUS": printed.drop(index="lock")}, ["Occurs", "Correct"])
    sites = ["here", "CAMPUS"]
    assert list(table.columns) == [(each, s) for each in ("Occurs", "Correct") for s in sites]
    assert list(table.index) == list(FILE_KEYS)
    assert table.loc["lifespan<=1", ("Correct", "CAMPUS")] == 28.71
    assert table.loc["lock", ("Correct", "here")] == own.loc["lock", "Correct"]
    assert pd.isna(table.loc["lock", ("Correct", "CAMPUS")])
