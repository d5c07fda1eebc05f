"""Evidence that a predicate whose bound an audit found broken keeps it again.

The predicate is never a yes for now, but what it would have said is counted all the same, at the
thresholds that follow the traffic. Minute by minute bets are made that its false positives are
rarer than the bound (``training.statistics.sequential.regained``): a minute is one event, as for
the bets that found it broken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from birthmark.training.statistics.sequential import ALPHA, regained

MINUTE = 60_000_000
"""Microseconds of the trace's time."""


@dataclass
class Regaining:
    """What was counted for one threshold since its predicate was made to abstain.

    ``outcomes`` and ``false_positives`` are those that were counted before.
    """

    bound: float
    outcomes: int
    false_positives: int
    shares: list[float] = field(default_factory=list)
    is_done: bool = False
    _minute: int | None = None

    def count(self, clock: int, outcomes: int, false_positives: int) -> bool:
        """Take all that was counted until a time; return whether the bound is kept again."""
        minute = clock // MINUTE
        if self._minute is None:
            self._minute = minute
        rows = outcomes - self.outcomes
        if minute > self._minute and rows:
            self.shares.append((false_positives - self.false_positives) / rows)
            self.outcomes, self.false_positives = outcomes, false_positives
            evidence = regained(np.array(self.shares), self.bound)
            self.is_done = self.is_done or evidence >= -math.log10(ALPHA)
        self._minute = minute
        return self.is_done
