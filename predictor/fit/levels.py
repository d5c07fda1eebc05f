"""Calibration of scores: cuts them into levels, each with the probability of a yes.

A model's score ranks files; it is not a probability. So isotonic regression fits the share of true
births to the out-of-fold scores (``predictor.fit.calibration``; Zadrozny and Elkan, "Transforming
classifier scores into accurate multiclass probability estimates", 2002). Scores are cut where that
share reaches each of ``GRID``, and at the thresholds, so that a level has one answer and one
probability.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from birthmark.data.common.arrays import Bools, Floats
from birthmark.predictor.answers.operating_points import NO_LEVELS, Levels

GRID = (0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99)
"""The shares at which levels are cut: few, since each adds to images (``models.compile``)."""

DECIMALS = 4
STEP = 10**-DECIMALS
"""The precision of probabilities: that of their display, hundredths of a percent."""


def levels_of(scores: Floats, truth: Bools, thresholds: Iterable[float | None]) -> Levels:
    """Return the levels of scores with a ``truth`` each; they are cut at ``thresholds``, too.

    A level of *n* scores, *k* of them true, has the probability (*k* + ½) / (*n* + 1), the
    posterior mean under Jeffreys' prior: never 0 or 1. Probabilities are multiples of ``STEP``,
    and at least one ``STEP``.
    """
    from sklearn.isotonic import IsotonicRegression

    if not len(scores):
        return NO_LEVELS
    fitted = IsotonicRegression().fit(scores, truth)
    steps, shares = fitted.X_thresholds_, fitted.y_thresholds_
    first = np.searchsorted(shares, GRID)
    cuts = {float(steps[i]) for i in first if 0 < i < len(steps)}
    cuts |= {cut for cut in thresholds if cut is not None and 0 < cut <= 1}
    ascending = tuple(sorted(cuts))
    level = np.searchsorted(ascending, scores, side="right")
    n, true = (np.bincount(level, w, len(cuts) + 1) for w in (None, truth))
    return Levels(ascending, tuple(_ascending((true + 0.5) / (n + 1), n).tolist()))


def _ascending(shares: Floats, weights: npt.NDArray[Any]) -> Floats:
    """Return shares that do not descend; a level without scores is like its neighbours."""
    from sklearn.isotonic import IsotonicRegression

    seen = np.flatnonzero(weights)
    fitted = IsotonicRegression(out_of_bounds="clip").fit(seen, shares[seen], weights[seen])
    every = fitted.predict(np.arange(len(shares)))
    return np.asarray(np.clip(every, STEP, 1 - STEP).round(DECIMALS))
