"""One threshold that keeps a bound on false positives under any drift.

A file is answered yes where its score reaches the threshold; its outcome later shows whether that
yes was false. The controller moves the threshold by two states:

- a **ledger**. Each outcome earns the bound (0.01 of a false positive), each false positive costs
  one; earnings beyond a full credit are lost. Without credit, the answer is never yes.
- a **memory** of the scores of files that came true and of those that did not, in which the newest
  weigh most. The threshold is the lowest that would have kept the share of false positives in
  memory at ``aim`` × bound × credit / full credit, and at which at least as many were true.

**The guarantee.** Let FP(n) be the false positives among the first n outcomes that were counted, in
whatever order, for any sequence of files, scores, outcomes and delays. Then ::

    FP(n) <= bound * n + full credit + M

where M is the number of yes answers whose outcomes were pending when the credit last ran out,
including those still answered at an earlier threshold.

*Proof.* Let c(n) be the credit after n outcomes. It begins full, and the cap only lowers it, so
that c(n) <= full credit + bound * n - FP(n) at all times. Let m be the last of the first n outcomes
after which (or before the first of which) there was credit. There
FP(m) <= bound * m + full credit - c(m) < bound * m + full credit. If m < n, no yes was answered
once outcome m + 1 was counted. So the false positives after m had been answered by then: one is
outcome m + 1 itself and the others were pending, M in all. ∎

So the long-run share is at most the bound if M, the answers given while an outcome is pending,
grows slower than n.

The guarantee assumes nothing about the model or the memory: these only make the answers useful. It
is adaptive conformal inference (Gibbs and Candès, "Adaptive conformal inference under distribution
shift", 2021) for the bound on false positives: the conformity score is the model's score of a file
that did not come true, the level moves by the errors made, and the threshold is that level's
quantile of the recent scores. As in conformal PID control (Angelopoulos, Candès and Tibshirani,
"Conformal PID control for time series prediction", 2023, proposition 2) the integral of errors
gives the guarantee around any forecast of the quantile; here it is one-sided and can be capped: a
quiet week does not pay for a bad day. The memory begins short, with the calibrated threshold in it,
and grows to its full length: as with decaying steps (Angelopoulos, Barber and Bates, "Online
conformal prediction with decaying step sizes", 2024) the first outcomes move it most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.predictor.answers.operating_points import ALWAYS
from birthmark.predictor.parameters import DEFAULTS


@dataclass(frozen=True)
class ControlSettings:
    """The settings of a control; invalid ones raise ``ValueError``.

    ``bound`` is the greatest share of false positives among all files. ``memory`` is a number of
    outcomes: each outcome weighs e times as much as one that is ``memory`` older. ``patience`` is
    the number of outcomes whose allowed false positives may occur in advance, in a burst whose
    outcomes are pending. ``aim`` is the target, as a share of the bound; the rest is a margin for
    drift. Without ``on``, thresholds stay as calibrated.
    """

    bound: float = DEFAULTS.bound
    memory: int = 10_000
    patience: int = 20_000
    aim: float = 0.8
    on: bool = True

    def __post_init__(self) -> None:
        """Validate the settings."""
        if not (0 < self.bound < 1 and 0 < self.aim <= 1):
            raise ValueError(f"a bound above 0 and below 1, and an aim within it: found {self}")
        if self.memory < 1 or self.patience < 1:
            raise ValueError(f"a memory and a patience of 1 or more outcomes: found {self}")

    @property
    def credit(self) -> float:
        """The number of false positives allowed in advance of the bound."""
        return self.bound * self.patience


_LOG_ODDS = np.arange(-10, 10.04, 0.08)
EDGES: Floats = np.concatenate([[ALWAYS], 1 / (1 + np.exp(-_LOG_ODDS))])
"""The lower edges of the bins of scores: even steps of log-odds, since the relevant scores
are near 0 and 1 (``predictor.models.forest.forest.sigmoid``)."""

TRUSTED = 0.5
"""The initial weight of the calibrated threshold, as a share of a full memory."""


class Controller:
    """The threshold of one predicate at one history scope.

    It starts from ``static``, the calibrated threshold; None abstains until outcomes show that a
    yes keeps the bound. ``threshold`` is in force (None: never a yes), ``outcomes`` and
    ``false_positives`` are totals, and ``credit`` is the number of further false positives before
    the controller abstains.
    """

    def __init__(self, static: float | None, settings: ControlSettings) -> None:
        self.static, self.settings = static, settings
        self.outcomes, self.false_positives = 0, 0
        self.credit = settings.credit
        self.mass = TRUSTED * settings.memory
        self.false, self.true = np.zeros((2, len(EDGES)))
        self._place = _place(static)
        full = settings.bound * self.mass
        if self._place:
            self.false[self._place - 1] = full
        if static is not None:
            self.true[self._place] = full
        self.threshold = static

    def observe(self, scores: Floats, in_force: Floats, truths: Bools) -> None:
        """Count new outcomes, in this order, and move the threshold.

        ``scores`` and the thresholds ``in_force`` (``NEVER``: none) are those at the time of the
        answers; ``truths`` are the outcomes. Only the order counts, not how calls divide it.
        """
        n = len(scores)
        if not (n == len(in_force) == len(truths)):
            raise ValueError(f"of {n} scores, {len(in_force)} thresholds and {len(truths)} truths")
        if not n or not self.settings.on:
            return
        wrong = (scores >= in_force) & ~truths
        self.outcomes += n
        self.false_positives += int(wrong.sum())
        self._enter(wrong)
        self._remember(self._bins(scores), truths)
        self.threshold = self._chosen()

    def _enter(self, wrong: Bools) -> None:
        """Enter outcomes into the ledger: a sum that the cap reflects."""
        sums = np.cumsum(self.settings.bound - wrong)
        lost = max(float(sums.max()) + self.credit - self.settings.credit, 0)
        self.credit += float(sums[-1]) - lost

    def _remember(self, bins: Ints, truths: Bools) -> None:
        newer = np.arange(len(bins), 0, -1) - 1
        weights = np.exp(-newer / self.settings.memory)
        faded = np.exp(-len(bins) / self.settings.memory)
        self.mass = self.mass * faded + float(weights.sum())
        for counts, rows in ((self.false, ~truths), (self.true, truths)):
            counts *= faded
            counts += np.bincount(bins[rows], weights[rows], len(EDGES))

    def _bins(self, scores: Floats) -> Ints:
        """Return the bins of scores; one of them begins at the calibrated threshold."""
        bins = np.searchsorted(EDGES, scores, side="right") - 1
        if self.static is None:
            return bins
        reached = scores >= self.static
        return np.where(reached, np.maximum(bins, self._place), np.minimum(bins, self._place - 1))

    def _chosen(self) -> float | None:
        # without credit it is 0 or less, and no share is below that
        share = self.settings.aim * self.settings.bound * self.credit / self.settings.credit
        false, true = (np.cumsum(counts[::-1])[::-1] for counts in (self.false, self.true))
        within = np.flatnonzero((false < share * self.mass) & (true >= false) & (true > 0))
        if not len(within):
            return None
        return self.static if within[0] == self._place else float(EDGES[within[0]])

    def state(self) -> dict[str, Any]:
        """Return the state, for an Arrow table."""
        return {
            "static": self.static,
            "threshold": self.threshold,
            "outcomes": self.outcomes,
            "false_positives": self.false_positives,
            "credit": self.credit,
            "mass": self.mass,
            "false": self.false.tolist(),
            "true": self.true.tolist(),
        }

    @classmethod
    def of_state(cls, state: dict[str, Any], settings: ControlSettings) -> Controller:
        """Return the controller of a ``state``; raise ``ValueError`` if it is invalid."""
        controller = cls(state["static"], settings)
        for name in ("threshold", "outcomes", "false_positives", "credit", "mass"):
            setattr(controller, name, state[name])
        for name in ("false", "true"):
            counts = np.asarray(state[name], dtype=np.float64)
            if counts.shape != EDGES.shape or not (np.isfinite(counts) & (counts >= 0)).all():
                raise ValueError(f"{name}: expected {len(EDGES)} counts")
            setattr(controller, name, counts)
        return controller


def _place(static: float | None) -> int:
    """Return the bin that begins at a calibrated threshold."""
    if static is None:
        return len(EDGES)
    return max(int(np.abs(EDGES - static).argmin()), int(static > ALWAYS))


def outcomes_to_lower(settings: ControlSettings) -> int:
    """Return the fewest outcomes after which a threshold can be below its calibrated one.

    That takes n outcomes that all came true. A threshold one bin lower still has the initial false
    positives, bound × trusted × memory, faded by f = e^(-n / memory). It is chosen once these are
    less than aim × bound of the memory's mass: trusted × memory × f from the beginning, and
    (1 - f) / (1 - e^(-1 / memory)) from n outcomes (``Controller``).
    """
    earned = settings.aim / -math.expm1(-1 / settings.memory)
    trusted = TRUSTED * settings.memory * (1 - settings.aim)
    return math.floor(-settings.memory * math.log(earned / (earned + trusted))) + 1


def most_false_positives(settings: ControlSettings, outcomes: int) -> float:
    """Return the number of false positives among ``outcomes`` that exhausts the credit."""
    return settings.credit + settings.bound * outcomes
