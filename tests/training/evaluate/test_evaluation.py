"""Tests also training/evaluate/cases.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from birthmark.predictor import births, tally
from birthmark.training.config import Settings
from birthmark.training.evaluate.cases import Case, majority
from birthmark.training.evaluate.evaluation import EVALUATION, evaluate, rows_of, score, tabulate
from birthmark.training.learn.train import Lives, train
from birthmark.training.statistics.bootstrap import blocks_of

Make = Callable[..., Any]
Days = list[tuple[pa.Table, pa.Table]]


def answers(hits: int, misses: int, alarms: int, rest: int) -> tuple[pa.Array, pa.Array]:
    """Return the truth and the predictions that make up these four counts."""
    truth = [True] * (hits + misses) + [False] * (alarms + rest)
    output = [True] * hits + [False] * misses + [True] * alarms + [False] * rest
    return pa.array(truth, pa.bool_()), pa.array(output, pa.bool_())


@pytest.mark.parametrize(
    ("occurs", "incorrect", "false_positives", "guess", "delta_error"),
    [
        (81.87, 12.87, 12.73, 81.87, 29.02),  # Table 6.5, lock
        (76.38, 71.29, 1.31, 76.38, -201.89),  # Table 6.5, lifespan<=1
        (4.69, 0.90, 0.14, 95.31, 80.78),  # Table 6.5, 0<size<=16k
        (51.60, 10.31, 7.67, 51.60, 78.69),  # Table 6.6, lock
        (62.70, 31.58, 1.20, 62.70, 15.34),  # Table 6.7, lifespan<=1
    ],
)
def test_the_columns_follow_from_one_another_as_in_the_thesis(
    occurs: float, incorrect: float, false_positives: float, guess: float, delta_error: float
) -> None:
    """The thesis prints percentages to two decimals: its counts are known to one in 10,000."""
    alarms = round(100 * false_positives)
    misses = round(100 * incorrect) - alarms
    hits = round(100 * occurs) - misses
    row = score(*answers(hits, misses, alarms, 10_000 - hits - misses - alarms), occurs >= 50)
    assert row["correct"] == pytest.approx(100 - incorrect)
    assert row["occurs"] == pytest.approx(occurs)
    assert row["guess"] == pytest.approx(guess)
    assert row["incorrect"] == pytest.approx(incorrect)
    assert row["false_positives"] == pytest.approx(false_positives)
    assert row["delta_error"] == pytest.approx(delta_error, abs=0.2)


def test_the_guess_is_the_training_datas_answer_though_the_test_data_says_otherwise() -> None:
    row = score(*answers(hits=10, misses=80, alarms=0, rest=10), False)
    assert (row["occurs"], row["guess"]) == (90, 10)
    assert row["delta_error"] == pytest.approx(100 * 10 / 90)


def test_unknown_answers_count_only_as_unknown() -> None:
    truth = pa.array([True, None, False, None], pa.bool_())
    output = pa.array([True, True, False, False], pa.bool_())
    row = score(truth, output, True)
    assert (row["n"], row["n_unknown"], row["n_true"], row["n_correct"]) == (2, 2, 1, 2)
    assert (row["n_true_positive"], row["n_false_positive"]) == (1, 0)


def test_precision_and_recall_are_shares_of_predicted_and_true_yes() -> None:
    row = score(*answers(hits=6, misses=4, alarms=2, rest=8), False)
    assert (row["precision"], row["recall"]) == (75, 60)


def test_a_percentage_of_nothing_is_null() -> None:
    none = pa.array([None], pa.bool_())
    row = score(none, pa.array([True]), True)
    assert row["n_unknown"] == 1
    for column in ("correct", "occurs", "guess", "delta_error", "incorrect", "false_positives"):
        assert row[column] is None
    perfect = score(*answers(hits=0, misses=0, alarms=0, rest=5), False)
    assert (perfect["correct"], perfect["guess"], perfect["delta_error"]) == (100, 100, None)


def test_the_majority_is_yes_from_one_half_on_and_no_where_nothing_is_known() -> None:
    """The caption of Table 6.5: NO if occurs is less than 50%, or YES otherwise."""
    assert majority({"known": 4, "true": 2, "unknown": 0})
    assert not majority({"known": 5, "true": 2, "unknown": 9})
    assert not majority(tally(pa.array([None, None], pa.bool_())))


def test_only_regular_files_whose_birth_was_seen_are_tested(life: Make, files_of: Make) -> None:
    """Section 6.3.3: only files created in the period."""
    files = files_of(
        life(b"new"),
        life(b"old", None),
        life(b"folder", kind="directory"),
        life(b"unknown", kind=None),
    )
    assert births(files)["name"].to_pylist() == [b"new"]


@pytest.mark.deep
def test_a_model_that_learned_monday_is_right_about_a_tuesday_like_it(days: Days) -> None:
    model, _ = train(Lives(("monday",), *days[0]), Settings(trees=4, rounds=2))
    table = evaluate(model, *days[1])
    assert table.schema.equals(EVALUATION)
    rows = {
        (r["subject"], r["predicate"], r["model"]): r
        for r in table.to_pylist()
        if r["point"] == "accurate"
    }
    for kind in ("name", "able"):
        lock = rows["file", "lock", kind]
        assert (lock["n"], lock["n_true"]) == (60, 20)
        assert lock["correct"] == lock["precision"] == lock["recall"] == 100
        assert lock["guess"] == pytest.approx(100 * 40 / 60)
        assert rows["name", "lifespan<=5", kind]["correct"] == 100
    assert len(rows) == len(model.kinds) * len(model.predicates)


def judged(seconds: float) -> dict[str, Any]:
    """Return the figures of 3000 answers at this interval, each tenth a false positive."""
    n = 3000
    wrong = np.arange(n) % 10 == 0
    times = (np.arange(n) * seconds * 1_000_000).astype(np.int64)
    known, truth = np.ones(n, bool), np.zeros(n, bool)
    scores, at = wrong.astype(float), {"bounded": 0.5}
    about = ("file", "lock", "rules")
    case = Case(*about, known, truth, scores, blocks_of(times), False, at, 0.01)  # type: ignore[arg-type]
    (row,) = tabulate(rows_of(case)).to_pylist()
    return row


def test_a_bound_is_shown_broken_only_by_a_test_of_blocks_that_tell() -> None:
    long, short = judged(1), judged(0.02)
    assert (long["standing"], long["broken"]) == ("shown broken", True)
    assert (short["standing"], short["broken"]) == ("not enough seen", False)
