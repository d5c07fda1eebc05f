"""Drift: changes among the created files since the model's training data.

For each value of `learn.profile` (a suffix, a user), its share of a night's creates is compared
with its share in training. Files come in bursts, so the standard error is estimated from blocks of
time: Welch's, that of blocks with a common variance (which also covers values that are absent on
one side), or, with enough days of training, that of one more day; the largest counts. The
familywise error rate over all values is at most `ALPHA`, by Holm's procedure (`binomial.broken`).
`ALPHA` is one in 365: without changes, one night a year is reported in error. Differences below
`FLOOR` are not reported however significant they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from scipy.special import stdtr

from birthmark.training.learn.profile import Count, Profile, profile
from birthmark.training.statistics.binomial import broken
from birthmark.training.statistics.bootstrap import ENOUGH_DAYS

ALPHA = 1 / 365
"""Familywise error rate over all values of a night."""

FLOOR = 0.02
"""Least difference of shares that is reported."""

FEWEST = 4
"""Least number of blocks of a night for a comparison."""

Change = Literal["new", "vanished", "more", "fewer"]


@dataclass(frozen=True)
class Shift:
    """A value whose share of all creates changed: percent `before` and `now`."""

    aspect: str
    value: str
    change: Change
    before: float
    now: float
    chance: float

    def to_json(self) -> dict[str, Any]:
        """Return the shift as a JSON object."""
        return asdict(self)


def shifts(learned: Profile, births: pa.Table, alpha: float = ALPHA) -> list[Shift] | None:
    """Return the changes since `learned`, greatest first; None if there is too little data.

    `births` are those of a night's files table.
    """
    if not len(births) or learned.blocks < FEWEST:
        return None
    night = profile(births, learned.seconds, learned.counts)
    if night.blocks < FEWEST:
        return None
    found = list(_compared(learned, night))
    significant = broken([each.chance for each in found], alpha)
    changed = [
        each for each, is_significant in zip(found, significant, strict=True) if is_significant
    ]
    return sorted(changed, key=lambda each: -abs(each.now - each.before))


def _compared(learned: Profile, night: Profile) -> Iterator[Shift]:
    for aspect, own in night.counts.items():
        for value in sorted(own.keys() | learned.counts.get(aspect, {}).keys()):
            was, now = learned.count(aspect, value), night.count(aspect, value)
            before, after = was.hits / learned.rows, now.hits / night.rows
            # small differences still count as comparisons
            chance = 1.0
            if abs(after - before) >= FLOOR:
                chance = _chance(learned, was, night, now)
            change = _change(before, after)
            yield Shift(aspect, value, change, 100 * before, 100 * after, chance)


def _change(before: float, after: float) -> Change:
    if not before or not after:
        return "vanished" if before else "new"
    return "more" if after > before else "fewer"


def _chance(learned: Profile, was: Count, night: Profile, now: Count) -> float:
    """Return the p-value of a difference of shares, by Student's t, two-sided."""
    difference = abs(was.hits / learned.rows - now.hits / night.rows)
    one, other = _scatter(learned, was), _scatter(night, now)
    blocks = learned.blocks, night.blocks
    welch = one / blocks[0] / (blocks[0] - 1) + other / blocks[1] / (blocks[1] - 1)
    alike = (one + other) / (sum(blocks) - 2) * (1 / blocks[0] + 1 / blocks[1])
    freedom = min(blocks) - 1
    chances = [_tail(difference, max(welch, alike), freedom)]
    if len(learned.days) >= ENOUGH_DAYS:
        chances.append(_tail(difference, _of_days(learned, was), len(learned.days) - 1))
    return max(chances)


def _tail(difference: float, variance: float, freedom: int) -> float:
    return 2 * float(stdtr(freedom, -difference / math.sqrt(variance))) if variance else 0.0


def _scatter(own: Profile, count: Count) -> float:
    """Return the sum of squared deviations of blocks from the share, in mean blocks."""
    share, mean = count.hits / own.rows, own.rows / own.blocks
    return (count.squares - 2 * share * count.cross + share**2 * own.squares) / mean**2


def _of_days(own: Profile, count: Count) -> float:
    """Return the variance of one more day's share about that of the training days."""
    days, hits = np.array(own.days, float), np.array(count.days, float)
    off = hits - count.hits / own.rows * days
    n = len(days)
    return float((n + 1) * n / (n - 1) * np.sum(off**2) / own.rows**2)
