"""The figures of one predicate, kind of model and operating point, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.metrics import brier_score_loss

from birthmark.data.common.arrays import Bools, Floats
from birthmark.data.common.percentages import percent
from birthmark.training.statistics import binomial
from birthmark.training.statistics.bootstrap import (
    LEVEL,
    RESAMPLES,
    SEED,
    Blocks,
    interval,
    resampled,
)

INTERVALS = {
    "correct": 100,
    "false_positives": 100,
    "true_positives": 100,
    "precision": 100,
    "recall": 100,
    "brier": 1,
}
"""The figures with intervals, columns `…_low` and `…_high`, and the maximum of each."""


def counts(truth: Bools, answers: Bools, guess: bool) -> dict[str, Any]:
    """Return the columns of `EVALUATION` that count `answers` to rows of `truth`.

    `guess` is the training data's majority answer.
    """
    n, n_true = len(truth), int(truth.sum())
    hits = int((truth & answers).sum())
    yes = int(answers.sum())
    alarms = yes - hits
    wrong = alarms + n_true - hits
    guess_wrong = n - n_true if guess else n_true
    return {
        "n": n,
        "n_true": n_true,
        "n_correct": n - wrong,
        "n_true_positive": hits,
        "n_false_positive": alarms,
        "correct": percent(n - wrong, n),
        "occurs": percent(n_true, n),
        "guess": percent(n - guess_wrong, n),
        "delta_error": percent(guess_wrong - wrong, guess_wrong),
        "incorrect": percent(wrong, n),
        "false_positives": percent(alarms, n),
        "true_positives": percent(hits, n),
        "precision": percent(hits, yes),
        "recall": percent(hits, n_true),
    }


def brier(truth: Bools, scores: Floats) -> float | None:
    """Return the mean squared difference of scores and truth; None without rows."""
    return float(brier_score_loss(truth, scores, pos_label=True)) if len(truth) else None


def intervals(
    truth: Bools,
    answers: Bools,
    scores: Floats,
    blocks: Blocks,
    seed: int = SEED,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> dict[str, float | None]:
    """Return the columns `…_low` and `…_high` of `INTERVALS`.

    They are from a bootstrap; that of false positives, which are rare, is exact.
    """
    hit, alarm, miss = truth & answers, ~truth & answers, truth & ~answers
    rows = [np.ones(len(truth), bool), hit, alarm, miss, (scores - truth) ** 2]
    drawn = resampled([blocks.sums(each) for each in rows], seed, resamples)
    with np.errstate(invalid="ignore", divide="ignore"):
        figures = _figures(*drawn)
    found: dict[str, float | None] = {}
    for name, top in INTERVALS.items():
        ends = interval(figures[name], blocks.count, top, level) or (None, None)
        found |= {f"{name}_low": ends[0], f"{name}_high": ends[1]}
    return found | share_interval("false_positives", alarm, blocks, level)


def share_interval(
    name: str, wrong: Bools, blocks: Blocks, level: float = LEVEL
) -> dict[str, float | None]:
    """Return the columns `…_low` and `…_high` of the share of `wrong` rows, percent."""
    found = binomial.interval(blocks.sums(wrong), blocks.sums(np.ones(len(wrong))), level)
    low, high = (100 * end for end in found) if found else (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def _figures(
    n: Floats, hits: Floats, alarms: Floats, misses: Floats, squares: Floats
) -> Mapping[str, Floats]:
    """Return each of `INTERVALS` of the sums in each draw."""
    return {
        "correct": 100 * (n - alarms - misses) / n,
        "false_positives": 100 * alarms / n,
        "true_positives": 100 * hits / n,
        "precision": 100 * hits / (hits + alarms),
        "recall": 100 * hits / (hits + misses),
        "brier": squares / n,
    }
