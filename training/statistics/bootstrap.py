"""How sure a figure is: confidence intervals by a bootstrap over blocks of time.

Files are created in bursts (a build, a delivery of mail), so that rows near each other in time are
alike, and resampling single rows would promise too much. Whole blocks of time are drawn instead
(B. Efron and R. Tibshirani, *An Introduction to the Bootstrap*, 1993, section 8.6): days where the
test covers several, else shorter ones.

The intervals are expanded percentile intervals (T. Hesterberg, "What Teachers Should Know About
the Bootstrap", The American Statistician 69(4), 2015, section 4.2): plain ones are too short. Where
blocks are few, no percentile reaches beyond the extreme blocks: these intervals are of Student's t
over the draws' standard deviation, which is set right for the number of blocks.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, stdtrit

from birthmark.data.common.arrays import Bools, Floats, Ints

SEED = 1
"""Any fixed one, so that the same test gives the same report."""

RESAMPLES = 2000
"""Draws: 50 lie beyond each end of a 95% interval, which suffices for two digits (Efron)."""

LEVEL = 0.95
"""The confidence that intervals are made for, unless told otherwise."""

DAY = 86_400
ENOUGH_DAYS = 4
"""Days are the blocks from so many on: the thesis tests on four (section 6.3.5)."""

UNITS = (3600, 1800, 1200, 600, 300, 120, 60, 30, 20, 10, 5, 2, 1)
ENOUGH = 20
"""Of a shorter test the blocks are the longest of `UNITS`, seconds, that gives so many; and from
so many on, intervals are of percentiles."""


@dataclass(frozen=True)
class Blocks:
    """The blocks of time that rows are in.

    `of_row` numbers each row's block from 0, in the order of time; `count` is how many blocks hold
    any row, and `seconds` how long each is.
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
    """Return the number of each row's block of `seconds`, and how many blocks have a row.

    `times` are in µs since the epoch; blocks without a row have no number.
    """
    held, of_row = np.unique(times // (seconds * 1_000_000), return_inverse=True)
    return of_row.astype(np.int64), len(held)


def resampled(sums: Sequence[Floats], seed: int = SEED, resamples: int = RESAMPLES) -> list[Floats]:
    """Return the total of each array of block sums, in each of `resamples` draws of blocks.

    All arrays see the same draws, so that what is computed of several of them belongs together.
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
    """Return the interval that holds a figure, which is from 0 to `top`, with confidence `level`.

    `figures` are its values in each draw of `count` blocks; those that are not finite, because a
    draw held nothing to compute them of, are left out. None where one block is all there is, or
    where nothing is left.
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


def design_effect(hits: Floats, rows: Floats) -> float:
    """Return how many times a share varies as much as with independent rows; 1 at least.

    `hits` and `rows` are counts per block. The variance of their ratio between blocks (the
    linearised one of cluster sampling: L. Kish, *Survey Sampling*, 1965, section 6.3) is compared
    with the binomial one.
    """
    n, count = rows.sum(), len(rows)
    share = hits.sum() / n if n else 0.0
    if count < 2 or not 0 < share < 1:
        return 1.0
    between = count / (count - 1) * np.sum((hits - share * rows) ** 2) / n**2
    return max(1.0, float(between / (share * (1 - share) / n)))
