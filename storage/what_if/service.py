"""Service times, from calls that came alone."""

from __future__ import annotations

import numpy as np

from birthmark.data.common.arrays import Floats
from birthmark.storage.what_if.server import Distribution

SHARES = (0.0, 0.01, 0.05, *(step / 20 for step in range(2, 19)), 0.95, 0.975, 0.99, 0.995, 0.999)
LEAST_CALLS = 30
"""Fewest calls for a distribution."""
_SIZES = 8
_LEAST_US = 1.0


def distribution(latency: Floats, moved: Floats, slope: float | None = None) -> Distribution:
    """Return the distribution of some latencies (μs), which grow with the bytes moved.

    They grow by ``slope`` with each byte (μs), if that is known from elsewhere.
    """
    slope = per_byte(latency, moved) if slope is None else slope
    rest = np.maximum(latency - slope * moved, _LEAST_US)
    times = np.maximum.accumulate(np.quantile(rest, [*SHARES, 1.0]))
    pairs = [(share, float(time)) for share, time in zip([*SHARES, 1.0], times, strict=True)]
    return Distribution(quantiles=pairs, ns_per_byte=slope * 1000)


def per_byte(latency: Floats, moved: Floats) -> float:
    """Return the growth of the median with each byte (μs), at least 0.

    A line through the medians of calls of similar size, weighted by their counts.
    """
    bounds = np.unique(np.quantile(moved, np.linspace(0, 1, _SIZES + 1)))
    group = np.searchsorted(bounds, moved, "left")
    points = [
        (moved[of].mean(), np.median(latency[of]), of.sum())
        for of in (group == each for each in np.unique(group))
        if of.sum() >= LEAST_CALLS
    ]
    if len(points) < 2:
        return 0.0
    size, median, count = np.array(points).T
    middle = np.average(size, weights=count)
    spread = np.average((size - middle) ** 2, weights=count)
    if spread == 0:
        return 0.0
    both = np.average((size - middle) * median, weights=count)
    return max(float(both / spread), 0.0)
