"""Confidence intervals by a bootstrap over blocks of time.

Files are created in bursts (a build, a delivery of mail), so rows near in time are correlated, and
resampling single rows would give intervals that are too short. Whole blocks of time are drawn
instead (B. Efron and R. Tibshirani, *An Introduction to the Bootstrap*, 1993, section 8.6): days if
the test covers several, else shorter blocks.

The intervals are expanded percentile intervals (T. Hesterberg, "What Teachers Should Know About the
Bootstrap", The American Statistician 69(4), 2015, section 4.2), because plain ones are too short.
With few blocks, percentiles cannot reach beyond the extreme blocks. Then the intervals are from
Student's t with the draws' standard deviation, corrected for the number of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtrit

from birthmark.data.common.arrays import Bools, Floats, Ints

SEED = 1
"""Default seed, so that reports are reproducible."""

RESAMPLES = 2000
"""Number of draws: 50 lie beyond each end of a 95% interval, enough for two digits (Efron)."""

LEVEL = 0.95
"""Default confidence level of intervals."""

DAY = 86_400
ENOUGH_DAYS = 4
"""Least number of days to use days as blocks: the thesis tests on four (section 6.3.5)."""

UNITS = (3600, 1800, 1200, 600, 300, 120, 60, 30, 20, 10, 5, 2, 1)
ENOUGH = 20
"""Least number of blocks in a shorter test, which uses the longest of `UNITS`, seconds, with that
many; also the least number for percentile intervals."""


@dataclass(frozen=True)
class Blocks:
    """The blocks of time that rows are in.

    `of_row` is each row's block index from 0, in the order of time; `count` is the number of blocks
    with any row, and `seconds` their length.
    """

    of_row: Ints
    count: int
    seconds: int

    def sums(self, rows: Bools | Floats) -> Floats:
        """Return the sum of `rows` in each block."""
        return np.bincount(self.of_row, rows, self.count).astype(np.float64)


def blocks_of(times: Ints, least: int = 1) -> Blocks:
    """Return the blocks of rows born at `times`, µs since the epoch, of `least` seconds or more."""
    seconds = DAY
    of_row, count = in_blocks(times, DAY)
    if count < ENOUGH_DAYS:
        for seconds in (unit for unit in UNITS if unit >= least):
            of_row, count = in_blocks(times, seconds)
            if count >= ENOUGH:
                break
    return Blocks(of_row, count, seconds)


def in_blocks(times: Ints, seconds: int) -> tuple[Ints, int]:
    """Return each row's block index, for blocks of `seconds`, and the number of blocks with a row.

    `times` are in µs since the epoch; blocks without a row have no index.
    """
    held, of_row = np.unique(times // (seconds * 1_000_000), return_inverse=True)
    return of_row.astype(np.int64), len(held)


def resampled(sums: Sequence[Floats], seed: int = SEED, resamples: int = RESAMPLES) -> list[Floats]:
    """Return the total of each array of block sums, in each of `resamples` draws of blocks.

    All arrays use the same draws, so that ratios of them are consistent.
    """
    stacked = np.stack(sums, axis=1)
    count = len(stacked)
    if not count:
        return [np.zeros(resamples) for _ in sums]
    drawn = np.random.default_rng(seed).multinomial(count, np.full(count, 1 / count), resamples)
    return list((drawn @ stacked).T)


def interval(
    figures: Floats, count: int, top: float, level: float = LEVEL
) -> tuple[float, float] | None:
    """Return the confidence interval at `level` of a figure between 0 and `top`.

    `figures` are its values in each draw of `count` blocks; infinite ones and NaN, from draws
    without data, are left out. None for a single block, or if nothing is left.
    """
    figures = figures[np.isfinite(figures)]
    if count < 2 or not len(figures):
        return None
    wider = math.sqrt(count / (count - 1)) * -stdtrit(count - 1, (1 - level) / 2)
    if count < ENOUGH:
        middle, off = figures.mean(), wider * figures.std()
        return float(max(0, middle - off)), float(min(top, middle + off))
    low, high = np.quantile(figures, [ndtr(-wider), ndtr(wider)])
    return float(low), float(high)
