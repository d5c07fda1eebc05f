"""Selection of the files for a region of limited blocks."""

from __future__ import annotations

from typing import Any

import numpy as np

from birthmark.data.common.arrays import Floats

RISE = 4.0


def fill(region_blocks: float, writes_per_hour: Any, blocks: Any) -> Floats:
    """Return how many blocks of each candidate go into a region of ``region_blocks``.

    The candidates get their blocks in the order of their benefit, block writes per hour and block,
    until none are left. The last one may get a part of its blocks, as a file system places blocks
    one by one. Candidates without expected writes get none; ties keep their order.

    If a candidate's writes fall evenly on its blocks, no other choice has more writes per hour
    in the region: this is the fractional knapsack, for which the greedy choice is the best
    (Dantzig, *Discrete-variable extremum problems*, Operations Research 5(2), 1957).

    With average occupancies in place of blocks, for files that come and go, the writes in the
    region are an upper bound for any choice of files.
    """
    writes, size = (np.asarray(column, dtype=np.float64) for column in (writes_per_hour, blocks))
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
    """Return the least benefit of the files that ``fill`` selects; 0 if all fit.

    For a region that is filled as files come and go, ``blocks`` are average occupancies: the
    blocks of each file times the share of the period in which it lived.
    """
    granted = fill(region_blocks, writes_per_hour, blocks)
    writes, size = (np.asarray(column, dtype=np.float64) for column in (writes_per_hour, blocks))
    selected = benefit(writes, size)[(granted > 0) & (writes > 0)]
    if np.all(granted[writes > 0] >= size[writes > 0]):
        return 0.0
    return float(selected.min()) if len(selected) else float("inf")


def entry_bar(least: float, full: Any) -> Any:
    """Return the least benefit for a file to enter a region of which a share, 0 to 1, is ``full``.

    It is a quarter of the ``least`` benefit (``bar``) while the region is empty, four times the
    least when it is full, and exponential in between, because space used now is not free for later
    files. The online knapsack has such an exponential price (Chakrabarty, Zhou, Lukose, *Online
    knapsack problems*, 2008); the range of 4 did best of those tried on a captured day.
    """
    return least * RISE ** (2 * np.asarray(full, dtype=np.float64) - 1)
