"""One threshold that keeps a bound on false positives, at every moment since publication.

A file is answered yes where its score reaches the threshold; its outcome later shows whether that
yes was false. The controller moves the threshold by two states:

- a **ledger** of two numbers, the outcomes n and the false positives k among them, with the
  evidence that they are against the bound (``predictor.control.ledger``). A yes is answered only
  while the evidence is below half of what shows the bound broken: while k, and a reserve for
  pending answers, are below a most m(n).
- a **memory** of the scores of files that came true and of those that did not, in which the newest
  weigh most. The threshold is the lowest that would have kept the share of false positives in
  memory at ``aim`` × bound × credit, and at which at least as many were true. The credit is 1 while
  k and the reserve are within bound × n, and 0 at m(n).

Abstaining is a threshold above all scores. As outcomes go on coming, m(n) grows, and the threshold
returns.

**The guarantee.** m(n) is bound × n and about two standard deviations: 2.1 for n = 0, 68 for n =
5,000 and a bound of 1%. For any sequence of files, scores, outcomes and delays ::

    k(n) < m(n) + 1 + E

where E is by how much the false positives among the answers that were pending when the credit last
ran out exceed the reserve. *Proof.* If there was credit before outcome n, then
k(n) <= k(n - 1) + 1 < m(n - 1) + 1 <= m(n) + 1. Else let j be the last outcome before which there
was credit, and r the reserve then: k(j - 1) + r < m(j - 1). No yes has been answered since outcome
j was counted. So k(n) <= k(j - 1) + r + 1 + E < m(j - 1) + 1 + E. ∎

What shows the bound broken takes one standard deviation more than m(n). So no stream is ever shown
above its bound unless that many more of the pending answers turn out wrong than were reserved.
**This is assumed of y pending yes answers**: not more than half of them are wrong, nor more than
``CLUSTER`` beyond the share that was wrong among recent ones. With fewer than three pending nothing
is assumed, neither of the model nor of drift. What is answered between two moves of the threshold
counts as pending from the next on.

The memory makes the answers useful. It is adaptive conformal inference (Gibbs and Candès, "Adaptive
conformal inference under distribution shift", 2021) for the bound on false positives, with weights
for recency as in non-exchangeable conformal risk control (Farinhas, Zerva, Ulmer and Martins, 2024,
arXiv 2310.01262); the ledger is the integral of errors of conformal PID control (Angelopoulos,
Candès and Tibshirani, 2023), one-sided. The memory begins short, with the calibrated threshold in
it, and grows to its full length: the first outcomes move it most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.predictor.answers.operating_points import ALWAYS
from birthmark.predictor.control.ledger import Ledger
from birthmark.predictor.parameters import DEFAULTS


@dataclass(frozen=True)
class ControlSettings:
    """The settings of a control; invalid ones raise ``ValueError``.

    ``bound`` is the greatest share of false positives among all files. ``memory`` is a number of
    outcomes: each outcome weighs e times as much as one that is ``memory`` older. ``aim`` is the
    target, as a share of the bound; the rest is a margin for drift. Without ``on``, thresholds stay
    as calibrated.
    """

    bound: float = DEFAULTS.bound
    memory: int = 10_000
    aim: float = 0.8
    on: bool = True

    def __post_init__(self) -> None:
        """Validate the settings."""
        if not (0 < self.bound < 1 and 0 < self.aim <= 1):
            raise ValueError(f"a bound above 0 and below 1, and an aim within it: found {self}")
        if self.memory < 1:
            raise ValueError(f"a memory of 1 or more outcomes: found {self}")


_LOG_ODDS = np.arange(-10, 10.04, 0.08)
EDGES: Floats = np.concatenate([[ALWAYS], 1 / (1 + np.exp(-_LOG_ODDS))])
"""The lower edges of the bins of scores: even steps of log-odds, since the relevant scores
are near 0 and 1 (``predictor.models.forest.forest.sigmoid``)."""

TRUSTED = 0.5
"""The initial weight of the calibrated threshold, as a share of a full memory."""

RECENT = 100
"""Number of yes answers that the recent share of wrong ones is about, in which the newest weigh
most."""

FIRST_SHARE = 0.05
"""Share of wrong ones that is expected of the first yes answers."""

CLUSTER = 20
"""Number of pending answers that may be wrong together, as files of one build are, beyond the
expected."""


class Controller:
    """The threshold of one predicate at one history scope.

    It starts from ``static``, the calibrated threshold; None abstains until outcomes show that a
    yes keeps the bound. ``ledger`` has the totals. ``pending`` yes answers have no outcome yet.
    """

    def __init__(self, static: float | None, settings: ControlSettings) -> None:
        self.static, self.settings = static, settings
        self.ledger, self.pending = Ledger(settings.bound), 0
        self.recent, self.recent_wrong = RECENT / 2, FIRST_SHARE * RECENT / 2
        self.mass = TRUSTED * settings.memory
        self.false, self.true = np.zeros((2, len(EDGES)))
        self._place = _place(static)
        full = settings.bound * self.mass
        if self._place:
            self.false[self._place - 1] = full
        if static is not None:
            self.true[self._place] = full

    def expect(self, scores: Floats, in_force: Floats) -> None:
        """Count answers at thresholds (``NEVER``: none) whose outcomes are to come."""
        self.pending += int((scores >= in_force).sum())

    def forget(self, scores: Floats, in_force: Floats) -> None:
        """Count answers as pending no more; without ``observe`` their outcomes remain unknown."""
        self.pending = max(self.pending - int((scores >= in_force).sum()), 0)

    def observe(self, scores: Floats, in_force: Floats, truths: Bools) -> None:
        """Count new outcomes, in this order.

        ``scores`` and the thresholds ``in_force`` (``NEVER``: none) are those at the time of the
        answers; ``truths`` are the outcomes. Only the order counts, not how calls divide it.
        """
        n = len(scores)
        if not (n == len(in_force) == len(truths)):
            raise ValueError(f"of {n} scores, {len(in_force)} thresholds and {len(truths)} truths")
        if not n:
            return
        self.forget(scores, in_force)
        self.ledger.outcomes += n
        self._enter(~truths[scores >= in_force])
        self._remember(self._bins(scores), truths)

    @property
    def threshold(self) -> float | None:
        """The threshold for the next answers; None is never a yes."""
        if not self.settings.on:
            return self.static
        # without credit it is 0 or less, and no share is below that
        credit = self.ledger.credit(self._reserve())
        share = self.settings.aim * self.settings.bound * credit
        false, true = (np.cumsum(counts[::-1])[::-1] for counts in (self.false, self.true))
        within = np.flatnonzero((false < share * self.mass) & (true >= false) & (true > 0))
        if not len(within):
            return None
        return self.static if within[0] == self._place else float(EDGES[within[0]])

    def _reserve(self) -> float:
        """Return how many of the pending answers may be wrong."""
        expected = self.pending * self.recent_wrong / self.recent
        return min(expected + CLUSTER, self.pending / 2)

    def _enter(self, wrong: Bools) -> None:
        """Enter yes answers into the ledger, and into the share of recent ones that were wrong."""
        self.ledger.false_positives += int(wrong.sum())
        weights, faded = _fading(len(wrong), RECENT)
        self.recent = self.recent * faded + float(weights.sum())
        self.recent_wrong = self.recent_wrong * faded + float(weights[wrong].sum())

    def _remember(self, bins: Ints, truths: Bools) -> None:
        weights, faded = _fading(len(bins), self.settings.memory)
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

    def state(self) -> dict[str, Any]:
        """Return the state, for an Arrow table."""
        return {
            "static": self.static,
            "outcomes": self.ledger.outcomes,
            "false_positives": self.ledger.false_positives,
            "recent": self.recent,
            "recent_wrong": self.recent_wrong,
            "mass": self.mass,
            "false": self.false.tolist(),
            "true": self.true.tolist(),
        }

    @classmethod
    def of_state(cls, state: dict[str, Any], settings: ControlSettings) -> Controller:
        """Return the controller of a ``state``; raise ``ValueError`` if it is invalid."""
        controller = cls(state["static"], settings)
        for name in ("recent", "recent_wrong", "mass"):
            setattr(controller, name, state[name])
        controller.ledger = Ledger(settings.bound, state["outcomes"], state["false_positives"])
        for name in ("false", "true"):
            counts = np.asarray(state[name], dtype=np.float64)
            if counts.shape != EDGES.shape or not (np.isfinite(counts) & (counts >= 0)).all():
                raise ValueError(f"{name}: expected {len(EDGES)} counts")
            setattr(controller, name, counts)
        return controller


def _fading(n: int, memory: float) -> tuple[Floats, float]:
    """Return the weights of n new values, and the factor by which those before fade."""
    return np.exp(-np.arange(n - 1, -1, -1) / memory), math.exp(-n / memory)


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
