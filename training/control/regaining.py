"""Evidence that a suppressed predicate keeps its bound again.

The predicate is suppressed, but its hypothetical answers at the moving thresholds are counted. For
each minute, a bet is made that its false positives are rarer than the bound
(``training.statistics.sequential.regained``). A minute is one event, as in the bets that broke the
bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import count

import numpy as np

from birthmark.training.statistics.sequential import ALPHA, regained

MINUTE = 60_000_000
"""Microseconds of trace time."""


@cache
def outcomes_to_regain(bound: float) -> int:
    """Return the least number of outcomes that show a kept bound: one a minute, none false."""
    return next(n for n in count(1) if _is_regained([0.0] * n, bound))


def _is_regained(shares: Sequence[float], bound: float) -> bool:
    return regained(np.array(shares), bound) >= -math.log10(ALPHA)


@dataclass
class Regaining:
    """The counts for one threshold since its predicate was suppressed.

    ``outcomes`` and ``false_positives`` are the counts before that.
    """

    bound: float
    outcomes: int
    false_positives: int
    shares: list[float] = field(default_factory=list)
    is_done: bool = False
    _minute: int | None = None

    def count(self, clock: int, outcomes: int, false_positives: int) -> bool:
        """Add the counts up to a time; return whether the bound is kept again."""
        minute = clock // MINUTE
        if self._minute is None:
            self._minute = minute
        rows = outcomes - self.outcomes
        if minute > self._minute and rows:
            self.shares.append((false_positives - self.false_positives) / rows)
            self.outcomes, self.false_positives = outcomes, false_positives
            self.is_done = self.is_done or _is_regained(self.shares, self.bound)
        self._minute = minute
        return self.is_done
