"""Curves over all thresholds: calibration, precision and recall, and cost.

The cost curve is Drummond and Holte's ("Cost curves: An improved method for visualizing classifier
performance", Machine Learning 65, 2006): the expected cost as a share of the greatest possible.
They draw it over the probability-times-cost of yes; here the share of yes is that of the test, and
the price of a false positive, in misses, varies.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.calibration import calibration_curve
from sklearn.metrics import precision_recall_curve, roc_curve

from birthmark.data.common.arrays import Bools, Floats
from birthmark.data.schema import field
from birthmark.predictor.answers.point import Point
from birthmark.training.evaluate.evaluation import TABLE_6_5

BINS = 10
"""Number of bins of equal width in a calibration curve."""

POINTS = 100
"""Greatest number of points in a precision-recall curve."""

PRICES: Floats = np.logspace(-3, 7, 11, base=2)
"""Prices of a false positive, in misses, along the cost curve."""

CURVES = pa.schema(
    [
        *TABLE_6_5[:3],
        field(
            "curve",
            pa.utf8(),
            "calibration: x a bin's mean score, y its share of yes; precision: x recall, y"
            " precision; the others: x the price of a false positive in misses, y the cost as a"
            " share of the greatest: cost at the best threshold for that price, cost_constant of"
            " the better constant answer, cost_accurate and cost_bounded at these thresholds",
            nullable=False,
        ),
        field("x", pa.float64(), "see curve", nullable=False),
        field("y", pa.float64(), "see curve", nullable=False),
        field("n", pa.int64(), "calibration: rows in the bin"),
    ]
)
"""Points of the curves of each predicate and kind of model, in order."""


def curves(
    truth: Bools, scores: Floats, answers: Mapping[Point, Bools]
) -> Iterable[dict[str, Any]]:
    """Return the rows of `CURVES` of one predicate and model, without the columns that name them.

    `answers` are those at each operating point. If `truth` is constant, there is only the
    calibration.
    """
    if len(truth):
        yield from _calibration(truth, scores)
    if 0 < truth.sum() < len(truth):
        yield from _precision(truth, scores)
        yield from _costs(truth, scores, answers)


def _calibration(truth: Bools, scores: Floats) -> Iterable[dict[str, Any]]:
    share, mean = calibration_curve(truth, scores, n_bins=BINS, pos_label=True)
    held = np.searchsorted(np.linspace(0, 1, BINS + 1)[1:-1], scores)
    numbers = np.bincount(held, minlength=BINS)
    for x, y, n in zip(mean, share, numbers[numbers > 0], strict=True):
        yield {"curve": "calibration", "x": float(x), "y": float(y), "n": int(n)}


def _precision(truth: Bools, scores: Floats) -> Iterable[dict[str, Any]]:
    precision, recall, _ = precision_recall_curve(truth, scores, drop_intermediate=True)
    chosen = np.unique(np.linspace(0, len(recall) - 1, POINTS).round().astype(int))
    for x, y in zip(recall[chosen], precision[chosen], strict=True):
        yield {"curve": "precision", "x": float(x), "y": float(y)}


def _costs(
    truth: Bools, scores: Floats, answers: Mapping[Point, Bools]
) -> Iterable[dict[str, Any]]:
    false, true, _ = roc_curve(truth, scores)
    lines = {"cost": (false, true), "cost_constant": (np.array([0.0, 1]), np.array([0.0, 1]))}
    for point, at_point in answers.items():
        rates = np.array([at_point[~truth].mean()]), np.array([at_point[truth].mean()])
        lines[f"cost_{point}"] = rates
    for curve, (false, true) in lines.items():
        for x, y in zip(PRICES, costs(truth, false, true), strict=True):
            yield {"curve": curve, "x": float(x), "y": float(y)}


def costs(truth: Bools, false: Floats, true: Floats) -> Floats:
    """Return the least cost of thresholds at each of `PRICES`, as a share of the greatest.

    `false` and `true` are the thresholds' rates of yes among negative and positive rows.
    """
    n_true = truth.sum()
    of_yes = n_true / (n_true + PRICES * (len(truth) - n_true))
    each = np.outer(of_yes, 1 - true) + np.outer(1 - of_yes, false)
    return np.asarray(each.min(axis=1))
