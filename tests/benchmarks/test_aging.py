from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

from benchmarks import aging, control
from benchmarks.aging_plot import age_in_words
from benchmarks.days import Day
from birthmark.predictor import TrainedModel, births
from tests.builders.lives import MONDAY, day_of_lives, files_of, names_of
from tests.builders.repositories import project

Rows = list[dict[str, Any]]


def days(*each: int) -> list[Day]:
    """Return days, each with so many files of three kinds."""
    lives = [day_of_lives(MONDAY + timedelta(days=n), many) for n, many in enumerate(each)]
    return [Day(f"day {n}", files_of(*rows), names_of(*rows)) for n, rows in enumerate(lives)]


def test_a_day_is_tested_on_models_of_each_earlier_day() -> None:
    rows = aging.day_rows(days(60, 60, 60), "rules", 0.05)
    assert {(row["test"], row["age"]) for row in rows} == {("day 1", 1), ("day 2", 1), ("day 2", 2)}
    assert {row["scope"] for row in rows} == {"directory", "nothing"}


def test_models_of_days_learn_from_as_many_births(monkeypatch: pytest.MonkeyPatch) -> None:
    learned: list[Day] = []

    def trained(days: list[Day], *_: Any) -> TrainedModel:
        learned.extend(days)
        return control.trained(days, "rules", 0.05)

    monkeypatch.setattr(aging, "trained", trained)
    aging.day_rows(days(60, 20, 40), "rules", 0.05)
    assert [len(births(day.files)) for day in learned] == [60, 60]
    assert pc.min(learned[0].files["born"]).as_py() > MONDAY + timedelta(minutes=50)


def test_models_of_a_repository_answer_the_same_births_at_each_age(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aging, "LEARNED", 200)
    monkeypatch.setattr(aging, "TESTED", 100)
    monkeypatch.setattr(aging, "STARTS", (0.8,))
    rows = aging.repository_rows(project(tmp_path, 200), "rules", 0.05)
    assert {row["age"] for row in rows} == {0, 30}  # too few births before that
    births = {
        age: [(r["predicate"], r["scope"], r["n"]) for r in rows if r["age"] == age]
        for age in (0, 30)
    }
    assert births[0] == births[30]
    assert all(30 < n <= 100 for _, _, n in births[0])


def row(test: str, age: int, errors: float) -> dict[str, Any]:
    shares = {"errors": errors, "true_positives": 0.5, "false_positives": 0.0, "over": False}
    return {"test": test, "age": age, "scope": "nothing", "predicate": "lock", "n": 9, **shares}


def test_differences_are_to_the_youngest_model_of_the_same_test() -> None:
    some = [row("a", 1, 0.1), row("a", 2, 0.2), row("b", 1, 0.3), row("b", 2, 0.5)]
    young, old = aging.summary([*some, row("c", 1, 0.9)], "nothing")
    assert (young["tests"], old["tests"]) == (3, 2)
    assert young["more"]["errors"] == (0, 0)
    assert old["errors"] == pytest.approx(0.35)
    assert old["more"]["errors"] == pytest.approx((0.15, 0.05))
    (alone,) = aging.summary([row("a", 1, 0.1)], "nothing")
    assert alone["more"]["errors"] == (0, None)


def test_the_table_the_rows_and_the_picture_are_of_the_same_ages(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [row("a", age, 0.1 * age) for age in (1, 2)]
    both = [*rows, *({**row, "scope": "directory"} for row in rows)]
    monkeypatch.setattr(aging, "repository_rows", lambda *_: both)
    out, picture = tmp_path / "rows.json", tmp_path / "aging.svg"
    asked = ["aging", "--repositories", "x", "--json", str(out), "--plot", str(picture)]
    monkeypatch.setattr(sys, "argv", asked)
    aging.main()
    assert json.loads(out.read_text()) == both
    assert "20.00 (+10.00)" in capsys.readouterr().out
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    ("days", "words"), [(0, "0 d"), (1, "1 d"), (91, "3 mo"), (365, "1 y"), (2922, "8 y")]
)
def test_ages_in_words(days: int, words: str) -> None:
    assert age_in_words(days) == words
