"""Decision thresholds: the most accurate one, and one that keeps a bound on false positives.

A false YES makes a file system worse and a false NO leaves it as it was (thesis section 6.3.4). So
a threshold keeps the share of false positives among all files (FalsePos of Table 6.5) to the user's
bound, with the given confidence. It is chosen on out-of-fold scores
(``predictor.fit.calibration.Holdout``).

The method is risk control by upper confidence bounds (Bates, Angelopoulos, Lei, Malik and Jordan,
"Distribution-free, risk-controlling prediction sets", 2021): the rate can only grow as the
threshold falls. So it takes the lowest threshold for which the upper confidence limit of its rate,
and of every higher threshold's, is within the bound; the many thresholds tried need no correction.
It equals fixed-sequence testing in "Learn then test" (Angelopoulos et al., 2021). The limit is that
of Clopper and Pearson (1934), which is exact for independent errors. Errors of the same minutes are
not independent: the design effect of blocks of time reduces their effective number, as Korn and
Graubard do for surveys ("Confidence intervals for proportions with small expected number of
positive counts estimated from survey data", 1998). The limit holds for lives like those it was
chosen on; an audit finds later drift.

A no has a separate bound, on false negatives as a share of all files, and a threshold chosen by the
same method, from the lowest score on. Between the two thresholds the answer is unsure.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from birthmark.data.common.arrays import Bools, Ints
from birthmark.data.common.setting_errors import check
from birthmark.predictor.answers.operating_points import (
    ALWAYS,
    EVEN,
    NEVER,
    OperatingPoints,
    Scores,
    says_yes,
)
from birthmark.predictor.fit.levels import levels_of
from birthmark.predictor.parameters import DEFAULTS, Parameters

CANDIDATES = 2000
"""Greatest number of thresholds tried, evenly spaced by the rank of the scores.

0.05% of the lives lie between two, a twentieth of the default bound; and the table of false
positives by block and threshold takes 1.6 MB."""

_CHANCE = 0.05
"""Significance level for a choice other than the default (another threshold than one half, or
another kind than the best one overall)."""


@dataclass(frozen=True)
class Limit:
    """The bound on wrong answers, as a share of all files, and its confidence."""

    bound: float = DEFAULTS.bound
    confidence: float = DEFAULTS.confidence

    def __post_init__(self) -> None:
        check(Parameters, bound=self.bound, confidence=self.confidence)

    def keeps(self, wrong: Bools, block: Ints) -> bool:
        """Return whether ``wrong`` rows, in blocks of time, keep the bound."""
        return len(wrong) > 0 and upper_limit(wrong, block, self.confidence) <= self.bound


@dataclass(frozen=True)
class Limits:
    """The limits on false positives (``yes``) and false negatives (``no``)."""

    yes: Limit = Limit(DEFAULTS.bound)
    no: Limit = Limit(DEFAULTS.false_negative_bound)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Limits:
        """Return the limits in the parameters of a ``predictor.TrainedModel``."""
        bounds = (parameters["bound"], parameters["false_negative_bound"])
        return cls(*(Limit(bound, parameters["confidence"]) for bound in bounds))

    def halved_risk(self) -> Limits:
        """Return limits of half the risk."""
        limits = (self.yes, self.no)
        return Limits(*(replace(limit, confidence=(1 + limit.confidence) / 2) for limit in limits))


@dataclass(frozen=True)
class Slice:
    """The scores, truths and blocks of time of the lives that thresholds are chosen on.

    ``scores`` are from 0 to 1, higher for a surer yes; the errors of one ``block`` may depend on
    each other. One model scored each ``fold``, if there are folds.
    """

    scores: Scores
    truth: Bools
    block: Ints
    fold: Ints | None = None

    def answers(self, threshold: float | None) -> Bools:
        """Return the answers at ``threshold``."""
        return says_yes(self.scores, threshold)

    def errors(self, threshold: float | None) -> float | None:
        """Return the share of wrong answers at ``threshold``; ``None`` where there are no lives."""
        wrong = self.answers(threshold) != self.truth
        return float(wrong.mean()) if len(wrong) else None


def choose(
    slice_: Slice, limit: Limit, decision: float | None = None, no_limit: Limit | None = None
) -> OperatingPoints:
    """Return the operating points of a model by its scores of ``slice_``.

    ``limit`` is that of a yes, ``no_limit`` that of a no (None: no threshold for a no). If the
    model's definition has a threshold, ``decision``, that is ``accurate``.
    """
    accurate = most_accurate(slice_) if decision is None else decision
    points = OperatingPoints(accurate, within_limit(slice_, limit), len(slice_.truth))
    points = replace(
        points,
        accurate_errors=slice_.errors(points.accurate),
        bounded_errors=slice_.errors(points.bounded),
    )
    if points.bounded is not None:
        wrong = slice_.answers(points.bounded) & ~slice_.truth
        upper = upper_limit(wrong, slice_.block, limit.confidence)
        points = replace(points, false_positives=float(wrong.mean()), upper=upper)
    if no_limit is None:
        return points
    points = replace(points, no=surely_no(slice_, no_limit))
    if points.no is not None:
        missed = ~slice_.answers(points.no) & slice_.truth
        upper = upper_limit(missed, slice_.block, no_limit.confidence)
        points = replace(points, false_negatives=float(missed.mean()), no_upper=upper)
    thresholds = (points.no, points.accurate, points.bounded)
    return replace(points, levels=levels_of(slice_.scores, slice_.truth, thresholds))


def within_limit(slice_: Slice, limit: Limit) -> float | None:
    """Return the lowest threshold that keeps ``limit``; ``None`` if there is none.

    It must be right on the slice at least as often as the best constant answer that keeps the
    limit; otherwise the model is useless.
    """
    n = len(slice_.truth)
    if not n:
        return None
    thresholds, wrong, yes, true = _cumulated(slice_)
    within = upper_limits(wrong, n, limit.confidence) <= limit.bound
    within = np.logical_and.accumulate(within)
    correct = (n - int(slice_.truth.sum()) + 2 * true - yes) / n
    constant = 1 - float(slice_.truth.mean())
    if upper_limit(~slice_.truth, slice_.block, limit.confidence) <= limit.bound:
        constant = max(constant, float(slice_.truth.mean()))
        if not np.any(within & (correct >= constant)):
            return ALWAYS
    useful = np.flatnonzero(within & (correct >= constant) & (true > 0))
    return float(thresholds[useful[-1]]) if len(useful) else None


def surely_no(slice_: Slice, limit: Limit) -> float | None:
    """Return the highest threshold below which a no keeps ``limit``; ``None`` if there is none."""
    turned = Slice(-slice_.scores, ~slice_.truth, slice_.block)
    if not len(turned.truth):
        return None
    thresholds, wrong, _, _ = _cumulated(turned)
    within = upper_limits(wrong, len(turned.truth), limit.confidence) <= limit.bound
    within = np.logical_and.accumulate(within)
    if not within[0]:
        return None
    last = -thresholds[np.flatnonzero(within)[-1]]
    above = slice_.scores[slice_.scores > last]
    return float(above.min()) if len(above) else NEVER


def most_accurate(slice_: Slice) -> float:
    """Return the threshold that is right most often.

    It is one half, as for a probability, unless the best one on the slice is significantly better,
    by a paired t-test over the folds, or else the blocks of time.
    """
    if not len(slice_.truth):
        return EVEN
    thresholds, _, yes, true = _cumulated(slice_)
    best = int(np.argmax(2 * true - yes))
    threshold = float(thresholds[best]) if 2 * true[best] > yes[best] else NEVER
    right, usual = (slice_.answers(t) == slice_.truth for t in (threshold, EVEN))
    together = slice_.block if slice_.fold is None else slice_.fold
    return threshold if surely_better(right, usual, together) else EVEN


def surely_better(right: Bools, usual: Bools, together: Ints) -> bool:
    """Return whether ``right`` holds for significantly more rows than ``usual``.

    It is a paired t-test over groups of rows, numbered by ``together``: folds, or blocks of time.
    """
    from scipy.stats import ttest_1samp  # slow to import, and needed only to learn

    gains = _in_blocks(right.astype(float) - usual, together)
    if len(gains) < 2 or gains.std() == 0:
        return False
    return bool(ttest_1samp(gains, 0, alternative="greater").pvalue < _CHANCE)


def upper_limits(wrong: Scores, n: int, confidence: float) -> Scores:
    """Return the upper confidence limit of a share, for each column of counts per block.

    ``wrong`` has a row per block of time and a column per share; ``n`` is the number of all rows.
    The blocks' scatter gives the design effect (at least 1), and with it the effective sample size
    (Korn and Graubard 1998); the limit is Clopper and Pearson's for that size.
    """
    from scipy.special import betaincinv, stdtrit  # slow to import, and needed only to learn

    blocks, share = len(wrong), wrong.sum(axis=0) / n
    effective = np.full(len(share), float(n))
    if blocks > 1:
        scatter = ((wrong - wrong.mean(axis=0)) ** 2).sum(axis=0) * blocks / (blocks - 1) / n**2
        single = share * (1 - share) / n
        effect = np.divide(scatter, single, out=np.ones(len(share)), where=single > 0)
        fewer = (stdtrit(max(n - 1, 1), confidence) / stdtrit(blocks - 1, confidence)) ** 2
        clustered = effect > 1
        effective[clustered] = np.maximum(n / effect[clustered] * fewer, 1.0)
    wrong_rows, others = share * effective + 1, np.maximum((1 - share) * effective, 1e-9)
    limits = betaincinv(wrong_rows, others, confidence)
    return np.asarray(np.where(share >= 1, 1.0, limits))


def upper_limit(wrong: Bools, block: Ints, confidence: float) -> float:
    """Return the upper confidence limit of the share of rows that are ``wrong``."""
    return float(upper_limits(_in_blocks(wrong, block)[:, None], len(wrong), confidence)[0])


def _cumulated(slice_: Slice) -> tuple[Scores, Scores, Ints, Ints]:
    """Return the distinct scores from the highest on, and the effect of a threshold at each.

    The effect is the false positives per block, the number of yes, and of true yes.
    """
    order = np.argsort(-slice_.scores, kind="stable")
    scores, truth = slice_.scores[order], slice_.truth[order]
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    last = last[np.unique(np.linspace(0, len(last) - 1, CANDIDATES).round().astype(int))]
    names, block = np.unique(slice_.block[order], return_inverse=True)
    wrong = np.zeros((len(names), len(last)))
    np.add.at(wrong, (block[~truth], np.searchsorted(last, np.flatnonzero(~truth))), 1.0)
    return scores[last], wrong.cumsum(axis=1), last + 1, np.cumsum(truth)[last]


def _in_blocks(values: Any, block: Ints) -> Scores:
    """Return the sum of ``values`` in each block."""
    _, place = np.unique(block, return_inverse=True)
    sums: Scores = np.bincount(place, np.asarray(values, dtype=float)).astype(float)
    return sums
