"""What changed among the files that are created, since the model's days.

Each value of `learn.profile` (a suffix, a user) is compared: its share of a night's creates with
that of the model's days. Files come in bursts, so that how far two shares may differ by chance is
judged by how much blocks of time differ: by Welch's standard error, by that of blocks of one
variance (which also knows of a value that is not there at all), or, where the model knows so many
days, by that of one more day among these, whichever is largest. All values together are wrongly
told to have changed with chance `ALPHA` at most, by Holm's procedure (`binomial.broken`).
`ALPHA` is one in 365: where nothing changes, one night in a year is told to have. What differs by
less than `FLOOR` is not told however sure it is.
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
"""The chance, over all values and a night, to tell of a change where there is none."""

FLOOR = 0.02
"""The least difference of shares that is told."""

FEWEST = 4
"""A night of fewer blocks is not judged."""

Change = Literal["new", "vanished", "more", "fewer"]


@dataclass(frozen=True)
class Shift:
    """A value whose share changed, in percent of all creates: `before`, and `now`."""

    aspect: str
    value: str
    change: Change
    before: float
    now: float
    chance: float

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return asdict(self)


def shifts(learned: Profile, births: pa.Table, alpha: float = ALPHA) -> list[Shift] | None:
    """Return what changed since `learned`, most first; None where there is too little to judge.

    `births` are those of a night's files table.
    """
    if not len(births) or learned.blocks < FEWEST:
        return None
    night = profile(births, learned.seconds, learned.counts)
    if night.blocks < FEWEST:
        return None
    found = list(_compared(learned, night))
    told = broken([each.chance for each in found], alpha)
    changed = [each for each, is_told in zip(found, told, strict=True) if is_told]
    return sorted(changed, key=lambda each: -abs(each.now - each.before))


def _compared(learned: Profile, night: Profile) -> Iterator[Shift]:
    for aspect, own in night.counts.items():
        for value in sorted(own.keys() | learned.counts.get(aspect, {}).keys()):
            was, now = learned.count(aspect, value), night.count(aspect, value)
            before, after = was.hits / learned.rows, now.hits / night.rows
            # what is too small to be told still counts among what was looked at
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
    """Return how likely shares differ so much by chance, by Student's t, two-sided."""
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
    """Return the sum of the squares by which blocks differ from the share, in mean blocks."""
    share, mean = count.hits / own.rows, own.rows / own.blocks
    return (count.squares - 2 * share * count.cross + share**2 * own.squares) / mean**2


def _of_days(own: Profile, count: Count) -> float:
    """Return the variance of one more day's share about that of the model's days."""
    days, hits = np.array(own.days, float), np.array(count.days, float)
    off = hits - count.hits / own.rows * days
    n = len(days)
    return float((n + 1) * n / (n - 1) * np.sum(off**2) / own.rows**2)
