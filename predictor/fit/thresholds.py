"""Decision thresholds: the most accurate one, and one that keeps a bound on false positives.

A false YES makes a file system worse and a false NO leaves it as it was (thesis section 6.3.4), so
a threshold is chosen such that the rate of false positives, as a share of all files (FalsePos of
Table 6.5), is at most what the user states, with stated confidence. It is chosen on lives each of
which was scored by a model that did not learn from it: of up to 200,000 births all, in five folds,
each scored by a model of the others; of more, a fifth that is not learned from
(``predictor.fit.calibration.Holdout``).

The method is risk control by upper confidence bounds (Bates, Angelopoulos, Lei, Malik and Jordan,
"Distribution-free, risk-controlling prediction sets", 2021): the rate can only grow as the
threshold falls, so the lowest threshold will do for which the upper confidence limit of its rate,
and of every higher threshold's, is within the bound; no correction for the many thresholds tried is
needed. It equals fixed-sequence testing in "Learn then test" (Angelopoulos et al., 2021). The limit
is that of Clopper and Pearson (1934), which is exact for lives that err independently. Lives of the
same minutes do not: they are counted for fewer than they are, by the design effect of blocks of
time, as Korn and Graubard do for surveys ("Confidence intervals for proportions with small expected
number of positive counts estimated from survey data", 1998). It holds for lives like those it was
chosen on: tomorrow's drift is for an audit to find.

What is no yes is not yet a no. A no has a bound of its own, on false negatives as a share of all
files, and a threshold that is chosen by the same method, from the lowest score on; between the two
the answer is that the model is unsure.
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
"""How many thresholds are tried, at most: every so many lives, by rank of their scores.

Between two lie 0.05% of the lives, a twentieth of the usual bound; and the table of false positives
by block and threshold takes 1.6 MB."""

_CHANCE = 0.05
"""What is not usual (another threshold than one half, another kind than the one that is best on the
whole) is taken if it is so rarely right more often by chance alone."""


@dataclass(frozen=True)
class Limit:
    """What is promised of wrong answers: their greatest share of all files, and how surely."""

    bound: float = DEFAULTS.bound
    confidence: float = DEFAULTS.confidence

    def __post_init__(self) -> None:
        check(Parameters, bound=self.bound, confidence=self.confidence)

    def keeps(self, wrong: Bools, block: Ints) -> bool:
        """Return whether the bound is kept where these rows, in blocks of time, are ``wrong``."""
        return len(wrong) > 0 and upper_limit(wrong, block, self.confidence) <= self.bound


@dataclass(frozen=True)
class Limits:
    """What is promised of a ``yes``, about false positives, and of a ``no``, of false negatives."""

    yes: Limit = Limit(DEFAULTS.bound)
    no: Limit = Limit(DEFAULTS.false_negative_bound)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Limits:
        """Return what the parameters of a ``predictor.TrainedModel`` promise."""
        bounds = (parameters["bound"], parameters["false_negative_bound"])
        return cls(*(Limit(bound, parameters["confidence"]) for bound in bounds))

    def surer(self) -> Limits:
        """Return limits of half the risk."""
        half = [replace(own, confidence=(1 + own.confidence) / 2) for own in (self.yes, self.no)]
        return Limits(*half)


@dataclass(frozen=True)
class Slice:
    """The scores, truths and blocks of time of the lives that thresholds are chosen on.

    ``scores`` are from 0 to 1, the surer of a yes the higher; rows of one ``block`` may err
    together. Those of a ``fold`` were scored by a model of its own, where there are folds.
    """

    scores: Scores
    truth: Bools
    block: Ints
    fold: Ints | None = None

    def said(self, threshold: float | None) -> Bools:
        """Return the answers at ``threshold``."""
        return says_yes(self.scores, threshold)

    def errors(self, threshold: float | None) -> float | None:
        """Return the share of wrong answers at ``threshold``; ``None`` where there are no lives."""
        wrong = self.said(threshold) != self.truth
        return float(wrong.mean()) if len(wrong) else None


def choose(
    slice_: Slice, limit: Limit, decision: float | None = None, no_limit: Limit | None = None
) -> OperatingPoints:
    """Return the operating points of a model by how it scores ``slice_``.

    ``limit`` is that of a yes, ``no_limit`` that of a no (None: only a yes is asked for).
    ``decision`` is the threshold that the model's own definition gives, where it gives one: it is
    then ``accurate``.
    """
    accurate = most_accurate(slice_) if decision is None else decision
    points = OperatingPoints(accurate, within_limit(slice_, limit), len(slice_.truth))
    points = replace(
        points,
        accurate_errors=slice_.errors(points.accurate),
        bounded_errors=slice_.errors(points.bounded),
    )
    if points.bounded is not None:
        wrong = slice_.said(points.bounded) & ~slice_.truth
        upper = upper_limit(wrong, slice_.block, limit.confidence)
        points = replace(points, false_positives=float(wrong.mean()), upper=upper)
    if no_limit is None:
        return points
    points = replace(points, no=surely_no(slice_, no_limit))
    if points.no is not None:
        missed = ~slice_.said(points.no) & slice_.truth
        upper = upper_limit(missed, slice_.block, no_limit.confidence)
        points = replace(points, false_negatives=float(missed.mean()), no_upper=upper)
    thresholds = (points.no, points.accurate, points.bounded)
    return replace(points, levels=levels_of(slice_.scores, slice_.truth, thresholds))


def within_limit(slice_: Slice, limit: Limit) -> float | None:
    """Return the lowest threshold that keeps ``limit``; ``None`` where there is none.

    It is not less often right on the slice than the best constant answer that keeps the limit: a
    model that is has nothing to say.
    """
    n = len(slice_.truth)
    if not n:
        return None
    thresholds, wrong, yes, true = _cumulated(slice_)
    kept = upper_limits(wrong, n, limit.confidence) <= limit.bound
    kept = np.logical_and.accumulate(kept)
    correct = (n - int(slice_.truth.sum()) + 2 * true - yes) / n
    constant = 1 - float(slice_.truth.mean())
    if upper_limit(~slice_.truth, slice_.block, limit.confidence) <= limit.bound:
        constant = max(constant, float(slice_.truth.mean()))
        if not np.any(kept & (correct >= constant)):
            return ALWAYS
    useful = np.flatnonzero(kept & (correct >= constant) & (true > 0))
    return float(thresholds[useful[-1]]) if len(useful) else None


def surely_no(slice_: Slice, limit: Limit) -> float | None:
    """Return the highest threshold below which a no keeps ``limit``; ``None`` where none is."""
    turned = Slice(-slice_.scores, ~slice_.truth, slice_.block)
    if not len(turned.truth):
        return None
    thresholds, wrong, _, _ = _cumulated(turned)
    kept = upper_limits(wrong, len(turned.truth), limit.confidence) <= limit.bound
    kept = np.logical_and.accumulate(kept)
    if not kept[0]:
        return None
    last = -thresholds[np.flatnonzero(kept)[-1]]
    above = slice_.scores[slice_.scores > last]
    return float(above.min()) if len(above) else NEVER


def most_accurate(slice_: Slice) -> float:
    """Return the threshold that is right most often.

    It is one half, as for any score that is a probability, unless the best one on the slice is
    better by more than chance: by a paired t-test over the folds, or else the blocks of time.
    """
    if not len(slice_.truth):
        return EVEN
    thresholds, _, yes, true = _cumulated(slice_)
    best = int(np.argmax(2 * true - yes))
    threshold = float(thresholds[best]) if 2 * true[best] > yes[best] else NEVER
    right, usual = (slice_.said(each) == slice_.truth for each in (threshold, EVEN))
    together = slice_.block if slice_.fold is None else slice_.fold
    return threshold if surely_better(right, usual, together) else EVEN


def surely_better(right: Bools, usual: Bools, together: Ints) -> bool:
    """Return whether ``right`` is true of more rows than ``usual`` is, by more than chance.

    That is tested in pairs (t-test), over the groups of rows whose numbers are ``together``: folds,
    or blocks of time.
    """
    from scipy.stats import ttest_1samp  # slow to import, and needed only to learn

    gains = _in_blocks(right.astype(float) - usual, together)
    if len(gains) < 2 or gains.std() == 0:
        return False
    return bool(ttest_1samp(gains, 0, alternative="greater").pvalue < _CHANCE)


def upper_limits(wrong: Scores, n: int, confidence: float) -> Scores:
    """Return the upper confidence limit of a share, for each column of counts per block.

    ``wrong`` has a row per block of time and a column per share; ``n`` is the number of all rows.
    The blocks' scatter gives the design effect (at least 1), and that the number of independent
    rows which tell as much (Korn and Graubard 1998); on these the limit is Clopper and Pearson's.
    """
    from scipy.stats import beta, t  # slow to import, and needed only to learn

    blocks, share = len(wrong), wrong.sum(axis=0) / n
    effective = np.full(len(share), float(n))
    if blocks > 1:
        scatter = ((wrong - wrong.mean(axis=0)) ** 2).sum(axis=0) * blocks / (blocks - 1) / n**2
        single = share * (1 - share) / n
        effect = np.divide(scatter, single, out=np.ones(len(share)), where=single > 0)
        fewer = (t.ppf(confidence, max(n - 1, 1)) / t.ppf(confidence, blocks - 1)) ** 2
        clustered = effect > 1
        effective[clustered] = np.maximum(n / effect[clustered] * fewer, 1.0)
    limits = beta.ppf(confidence, share * effective + 1, np.maximum((1 - share) * effective, 1e-9))
    return np.asarray(np.where(share >= 1, 1.0, limits))


def upper_limit(wrong: Bools, block: Ints, confidence: float) -> float:
    """Return the upper confidence limit of the share of rows that are ``wrong``."""
    return float(upper_limits(_in_blocks(wrong, block)[:, None], len(wrong), confidence)[0])


def _cumulated(slice_: Slice) -> tuple[Scores, Scores, Ints, Ints]:
    """Return the distinct scores from the highest on, and what a threshold there would do.

    That is: false positives per block, and the numbers of yes and of true yes.
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
