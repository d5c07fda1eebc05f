"""Tests also data/common/percentages.py."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, precision_score, recall_score

from birthmark.data.common.percentages import percent
from birthmark.training.evaluate.metrics import INTERVALS, brier, counts, intervals
from birthmark.training.statistics.bootstrap import blocks_of

RANDOM = np.random.default_rng(2)
TRUTH = RANDOM.random(3000) < 0.3
SCORES = np.clip(0.3 * TRUTH + RANDOM.random(3000) * 0.7, 0, 1)
TIMES = np.sort(RANDOM.integers(0, 3600 * 1_000_000, 3000))


def test_the_figures_are_those_of_scikit_learn() -> None:
    answers = SCORES >= 0.5
    row = counts(TRUTH, answers, False)
    assert row["precision"] == pytest.approx(100 * precision_score(TRUTH, answers))
    assert row["recall"] == pytest.approx(100 * recall_score(TRUTH, answers))
    assert row["true_positives"] == pytest.approx(100 * np.mean(TRUTH & answers))
    assert row["true_positives"] + row["false_positives"] == pytest.approx(100 * answers.mean())
    assert brier(TRUTH, SCORES) == pytest.approx(brier_score_loss(TRUTH, SCORES))


def test_the_brier_score_needs_no_two_answers() -> None:
    assert brier(np.ones(4, bool), np.full(4, 0.5)) == pytest.approx(0.25)
    assert brier(np.zeros(0, bool), np.zeros(0)) is None


def test_every_interval_holds_its_own_figure() -> None:
    answers = SCORES >= 0.5
    found = intervals(TRUTH, answers, SCORES, blocks_of(TIMES), resamples=500)
    row = {**counts(TRUTH, answers, False), "brier": brier(TRUTH, SCORES)}
    for name in INTERVALS:
        low, high = found[f"{name}_low"], found[f"{name}_high"]
        assert low is not None
        assert high is not None
        assert low < row[name] < high
        assert high - low < 0.2 * INTERVALS[name]


def test_intervals_are_the_same_for_the_same_seed_alone() -> None:
    answers, blocks = SCORES >= 0.5, blocks_of(TIMES)
    one = intervals(TRUTH, answers, SCORES, blocks, seed=4, resamples=200)
    assert intervals(TRUTH, answers, SCORES, blocks, seed=4, resamples=200) == one
    assert intervals(TRUTH, answers, SCORES, blocks, seed=5, resamples=200) != one


def test_without_a_figure_there_is_no_interval() -> None:
    never = np.zeros(3000, bool)
    found = intervals(TRUTH, never, SCORES, blocks_of(TIMES), resamples=50)
    assert found["precision_low"] is found["precision_high"] is None
    assert found["recall_high"] == 0
    nothing = intervals(
        np.zeros(0, bool), np.zeros(0, bool), np.zeros(0), blocks_of(np.array([], np.int64))
    )
    assert set(nothing.values()) == {None}


def test_a_percentage_of_nothing_is_none() -> None:
    assert percent(1, 4) == 25
    assert percent(0, 0) is None
