"""Which reads missed the server's memory, and so how much memory is in use.

A least-recently-used cache holds exactly the data with less than its size of other data touched
since (Mattson et al., 1970). So one reuse distance, the memory in use, separates hits from misses:
latencies change most there. A first read hits with a probability that is the same for all.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from birthmark.data.common.arrays import Floats
from birthmark.storage.what_if.server import BLOCK

LEAST_READS = 100
"""Fewest reads for an estimate."""
_BINS = 16
_STEPS = 20
_SLOWER = 1.5
"""Least ratio of the medians of misses and hits."""
_CANDIDATES = 48


@dataclass(frozen=True)
class Memory:
    """Estimate of a server's memory from latencies.

    Attributes:
        low, high: data with less than `low` bytes touched since was there, with more than `high`
            not.
        bounded: whether any read with a known distance missed; else `low` is only a lower bound.
        warm: the share of first reads that were in memory.
        missed: each read's probability of a miss.
    """

    low: float
    high: float
    bounded: bool
    warm: float
    missed: Floats

    @property
    def bytes(self) -> float:
        """The most likely size."""
        return float(np.sqrt(self.low * self.high)) if self.bounded else self.low


def memory_of(latency: Floats, distance: Floats) -> Memory:
    """Estimate memory from reads that came alone and are not sequential."""
    known = np.isfinite(distance)
    furthest = float(distance[known].max(initial=BLOCK)) + BLOCK
    nothing = Memory(furthest, np.inf, False, 1.0, np.zeros(len(latency)))
    if len(latency) < LEAST_READS:
        return nothing
    bins = _binned(latency)
    first = _counts(bins[~known])
    order = np.argsort(distance[known])
    sorted_bins, sorted_distance = bins[known][order], distance[known][order]
    rough = _cuts(sorted_distance)
    split, cut = _likeliest(rough, sorted_bins, first)
    split, cut = _likeliest(_near(cut, rough), sorted_bins, first)
    if not _is_significant(split, _counts(bins), latency, bins):
        return nothing
    missed = np.where(known, distance >= _at(sorted_distance, cut), split.missed[bins])
    bounded = cut < len(sorted_distance)
    slack = max(1, len(sorted_distance) // 200)
    low = _at(sorted_distance, cut - slack) + BLOCK
    high = _at(sorted_distance, min(cut + slack, len(sorted_distance) - 1)) if bounded else np.inf
    return Memory(low, high, bounded, split.warm, missed.astype(float))


def _at(distance: Floats, place: int) -> float:
    if place < 0:
        return 0.0
    return float(distance[place]) if place < len(distance) else np.inf


def _likeliest(cuts: list[int], bins: np.ndarray, first: Floats) -> tuple[_Split, int]:
    """Return the most likely cut, behind which reads miss, and its split."""
    tried = [(_Split(_counts(bins[:cut]), _counts(bins[cut:]), first), cut) for cut in cuts]
    return max(tried, key=lambda own: own[0].likelihood)


def _near(cut: int, rough: list[int]) -> list[int]:
    """Return evenly spaced cuts between the neighbours of a cut."""
    place = rough.index(cut)
    low, high = rough[max(place - 1, 0)], rough[min(place + 1, len(rough) - 1)]
    return sorted({cut, *np.linspace(low, high, _CANDIDATES).astype(int).tolist()})


class _Split:
    """Hits, misses and first reads by bins of latency: their most likely distributions.

    Expectation-maximization: a first read is a hit or a miss by the likelihood of its latency.
    """

    def __init__(self, hits: Floats, misses: Floats, first: Floats) -> None:
        hit, missed, warm = _shares(hits), _shares(misses + _upper(first, hits)), 0.5
        for _ in range(_STEPS):
            likely = warm * hit / (warm * hit + (1 - warm) * missed)
            warm = float(np.clip((first * likely).sum() / max(first.sum(), 1), 1e-3, 1 - 1e-3))
            hit = _shares(hits + first * likely)
            missed = _shares(misses + first * (1 - likely))
        self.hit, self.slow, self.warm = hit, missed, warm if first.sum() else 0.0
        self.missed = 1 - warm * hit / (warm * hit + (1 - warm) * missed)
        both = np.log(warm * hit + (1 - warm) * missed)
        self.likelihood = float(
            (hits * np.log(hit)).sum() + (misses * np.log(missed)).sum() + (first * both).sum()
        )


def _is_significant(split: _Split, all_reads: Floats, latency: Floats, bins: np.ndarray) -> bool:
    """Whether two distributions fit better than one, and misses are slower."""
    alone = (all_reads * np.log(_shares(all_reads))).sum()
    dearer = _BINS * np.log(all_reads.sum())  # extra parameters: half the Schwarz criterion
    middle = np.array(
        [
            np.median(latency[bins == each]) if (bins == each).any() else np.nan
            for each in range(_BINS)
        ]
    )
    slower = _median(split.slow, middle) >= _SLOWER * _median(split.hit, middle)
    return bool(split.likelihood - alone > dearer / 2 and slower)


def _median(shares: Floats, middle: Floats) -> float:
    there = np.isfinite(middle)
    place = np.searchsorted(np.cumsum(shares[there]), 0.5 * shares[there].sum())
    return float(middle[there][min(place, there.sum() - 1)])


def _cuts(distance: Floats) -> list[int]:
    """Return the read counts, by ascending distance, at which the memory may end."""
    if not len(distance):
        return [0]
    span = np.geomspace(max(distance[0], BLOCK), distance[-1] + BLOCK, _CANDIDATES)
    cuts = {int(cut) for cut in np.searchsorted(distance, span)}
    return sorted({cut for cut in cuts if cut >= LEAST_READS // 4} | {len(distance)})


def _binned(latency: Floats) -> np.ndarray:
    """Return the bin of each latency: equal counts, but finer among the slow ones."""
    shares = [
        *np.linspace(0, 0.8, _BINS // 2, endpoint=False)[1:],
        *1 - np.geomspace(0.2, 0.005, 8),
    ]
    return np.asarray(np.searchsorted(np.quantile(latency, shares), latency))


def _counts(bins: np.ndarray) -> Floats:
    return np.bincount(bins, minlength=_BINS).astype(float)


def _shares(counts: Floats) -> Floats:
    smoothed: Floats = (counts + 0.5) / (counts + 0.5).sum()
    return smoothed


def _upper(first: Floats, hits: Floats) -> Floats:
    """Return the first reads slower than nearly all hits, to start the search."""
    slow = np.cumsum(_shares(hits)) > 0.9
    return np.where(slow, first, 0.0)
