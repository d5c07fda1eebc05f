from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import precision_recall_curve

from birthmark.training.evaluate.curves import PRICES, costs, curves

RANDOM = np.random.default_rng(3)
TRUTH = RANDOM.random(5000) < 0.25
SCORES = RANDOM.beta(2, 5, 5000)
CALIBRATED = RANDOM.random(5000) < SCORES
SHARPER = np.clip(0.4 * TRUTH + 0.6 * SCORES, 0, 1)


def of(rows: list[dict[str, Any]], curve: str) -> tuple[np.ndarray, np.ndarray]:
    own = [row for row in rows if row["curve"] == curve]
    return np.array([row["x"] for row in own]), np.array([row["y"] for row in own])


def test_scores_that_are_chances_lie_on_the_diagonal() -> None:
    rows = list(curves(CALIBRATED, SCORES, {}))
    x, y = of(rows, "calibration")
    numbers = np.array([row["n"] for row in rows if row["curve"] == "calibration"])
    assert numbers.sum() == len(SCORES)
    stored = numbers > 300
    assert y[stored] == pytest.approx(x[stored], abs=0.06)
    # of each bin, its own mean score and share of yes
    second = (SCORES > 0.1) & (SCORES <= 0.2)
    assert (x[1], y[1], numbers[1]) == pytest.approx(
        (SCORES[second].mean(), CALIBRATED[second].mean(), second.sum())
    )


def test_the_precision_recall_curve_is_scikit_learns_thinned() -> None:
    x, y = of(list(curves(TRUTH, SHARPER, {})), "precision")
    precision, recall, _ = precision_recall_curve(TRUTH, SHARPER)
    points = set(zip(recall, precision, strict=True))
    assert set(zip(x, y, strict=True)) <= points
    assert (x[0], x[-1]) == (1, 0)
    assert len(x) <= 100


def test_the_cost_curve_is_the_cost_of_the_best_threshold_for_each_price() -> None:
    rows = list(curves(TRUTH, SHARPER, {"accurate": SHARPER >= 0.5}))
    x, y = of(rows, "cost")
    assert x == pytest.approx(PRICES)
    thresholds = np.unique(SHARPER)[::40]
    for price, cost in zip(x, y, strict=True):
        greatest = TRUTH.sum() + price * (~TRUTH).sum()
        tried = [
            ((TRUTH & (t > SHARPER)).sum() + price * (~TRUTH & (t <= SHARPER)).sum()) / greatest
            for t in thresholds
        ]
        assert cost <= min(tried) + 1e-12
        assert cost == pytest.approx(min(tried), abs=0.01)


def test_no_threshold_costs_more_than_the_better_constant_answer() -> None:
    rows = list(curves(TRUTH, SHARPER, {"bounded": np.zeros(5000, bool)}))
    best, constant, never = (
        of(rows, name)[1] for name in ("cost", "cost_constant", "cost_bounded")
    )
    assert (best <= constant + 1e-12).all()
    # always no costs every yes: dearer than always yes where a false positive is cheap
    of_yes = TRUTH.sum() / (TRUTH.sum() + PRICES * (~TRUTH).sum())
    assert never == pytest.approx(of_yes)
    assert constant == pytest.approx(np.minimum(of_yes, 1 - of_yes))


def test_a_test_without_two_answers_has_only_a_calibration() -> None:
    rows = list(curves(np.zeros(10, bool), np.full(10, 0.2), {}))
    assert {row["curve"] for row in rows} == {"calibration"}
    assert list(curves(np.zeros(0, bool), np.zeros(0), {})) == []


def test_costs_take_the_least_of_several_thresholds() -> None:
    one = costs(TRUTH, np.array([0.1]), np.array([0.6]))
    two = costs(TRUTH, np.array([0.0]), np.array([0.3]))
    both = costs(TRUTH, np.array([0.1, 0.0]), np.array([0.6, 0.3]))
    assert both == pytest.approx(np.minimum(one, two))
