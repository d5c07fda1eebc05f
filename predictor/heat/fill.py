"""Which files to put into a region of so many blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from birthmark.data.common.arrays import Floats

RISE = 4.0


def fill(region_blocks: float, writes_per_hour: Any, blocks: Any) -> Floats:
    """Return how many blocks of each candidate go into a region of ``region_blocks``.

    The candidates come in the order of their benefit, block writes per hour and block, and each
    gets its blocks until none are left: the last to come in may get a part of them, as a file
    system places blocks one by one. Candidates with no expected writes get none; those that tie
    come in their own order.

    If a candidate's writes fall evenly on its blocks, no other choice has more writes per hour
    in the region: this is the fractional knapsack, for which the greedy choice is the best
    (Dantzig, *Discrete-variable extremum problems*, Operations Research 5(2), 1957).

    With average occupancies in place of blocks, of files that come and go, the sum of the writes
    taken is a bound that no choice of files can exceed.
    """
    writes, size = (np.asarray(each, dtype=np.float64) for each in (writes_per_hour, blocks))
    if not (region_blocks >= 0 and np.all(writes >= 0) and np.all(size >= 0)):
        raise ValueError("expected a region, writes and blocks of 0 or more")
    wanted = np.where(writes > 0, size, 0.0)
    order = np.argsort(-benefit(writes, size), kind="stable")
    before = np.cumsum(wanted[order]) - wanted[order]
    granted = np.zeros_like(size)
    granted[order] = np.clip(region_blocks - before, 0.0, wanted[order])
    return granted


def benefit(writes_per_hour: Floats, blocks: Floats) -> Floats:
    """Return block writes per hour and block: infinite for writes that need no block."""
    return np.divide(
        writes_per_hour,
        blocks,
        out=np.where(writes_per_hour > 0, np.inf, 0.0),
        where=blocks > 0,
    )


def bar(region_blocks: float, writes_per_hour: Any, blocks: Any) -> float:
    """Return the least benefit of what ``fill`` takes into the region; 0 where all find room.

    For a region that is filled as files come and go, ``blocks`` are average occupancies: of each
    file the blocks that it held in a period, by the share of the period in which it lived.
    """
    granted = fill(region_blocks, writes_per_hour, blocks)
    writes, size = (np.asarray(each, dtype=np.float64) for each in (writes_per_hour, blocks))
    taken = benefit(writes, size)[(granted > 0) & (writes > 0)]
    if np.all(granted[writes > 0] >= size[writes > 0]):
        return 0.0
    return float(taken.min()) if len(taken) else float("inf")


def asked(least: float, full: Any) -> Any:
    """Return the least benefit for a file to enter a region of which a share, 0 to 1, is ``full``.

    A quarter of the ``least`` benefit (``bar``) while the region is empty, four times as much when
    it has just room for one more, and in between evenly on a logarithmic scale: a place that is
    taken now is not there for what comes later. A price that grows exponentially with what is
    taken is what the online knapsack asks for (Chakrabarty, Zhou, Lukose, *Online knapsack
    problems*, 2008); the range of 4 did best of those tried on a captured day.
    """
    return least * RISE ** (2 * np.asarray(full, dtype=np.float64) - 1)
