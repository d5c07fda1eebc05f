"""Sequential test of a bound on false positives, for every night.

A test at 5% that is repeated every night gives a false alarm every third week. This one can be
repeated forever. It bets against the bound: for each block of time in which the false positives are
a share x of the rows, a capital is multiplied by

    1 + b · w · (x - bound)

with w the block's rows as a share of the largest block's. If the bound holds (in each block the
expected share is at most `bound`, given the past), no such bet has a positive expected gain: the
capital is an e-process (I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random
variables by betting", Journal of the Royal Statistical Society B 86(1), 2024). `BETS` are a mixture
of stakes b, as shares of the greatest possible, 1 / bound. As logarithms are concave, a night whose
share is within the bound does not increase the capital, however its blocks vary. A block lasts a
minute at least (`standing.BURST`): one build is one event and not one for each second.

Drift can begin on any night, so a bet is opened each night, and the evidence is the sum of all:
the Shiryaev-Roberts e-detector (J. Shin, A. Ramdas and A. Rinaldo, "E-detectors: a nonparametric
framework for sequential change detection", New England Journal of Statistics in Data Science 2(2),
2024). After n nights in which the bound held, its expectation is at most n, so within a year it
reaches `365 · bounds / ALPHA` with a chance of at most `ALPHA` over all watched `bounds`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from birthmark.data.common.arrays import Floats

ALPHA = 0.05
"""False alarm rate over all bounds and all nights of a year."""

NIGHTS = 365
"""Number of nights to which `ALPHA` applies."""


BETS: Floats = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.8])
"""Stakes, as shares of the greatest possible."""


def growth(alarms: Floats, rows: Floats, bound: float) -> Floats:
    """Return the logarithm of the factor by which each of `BETS` grows in a night.

    `alarms` and `rows` are counts per block of time; `bound` is a share.
    """
    held = rows > 0
    if not held.any():
        return np.zeros(len(BETS))
    share, weight = alarms[held] / rows[held], rows[held] / rows.max()
    factors = 1 + np.outer(BETS / bound, weight * (share - bound))
    return np.asarray(np.log(factors).sum(axis=1))


def evidence(nights: Iterable[Floats]) -> float:
    """Return the evidence (log10) after `nights`, each a `growth`, in their order."""
    capital = np.full(len(BETS), -np.inf)
    for grown in nights:
        capital = np.logaddexp(0.0, capital) + grown
    return float((np.logaddexp.reduce(capital) - math.log(len(BETS))) / math.log(10))


def needed(bounds: int, alpha: float = ALPHA) -> float:
    """Return the evidence (log10) that breaks one of `bounds` watched bounds."""
    return math.log10(NIGHTS * max(bounds, 1) / alpha)


def regained(blocks: Floats, bound: float) -> float:
    """Return the evidence (log10) that false positives are rarer than a bound.

    `blocks` are their shares in consecutive blocks of time. The bets are those of `growth`,
    reversed: if the expected share in each block is `bound` or more, no bet has a positive expected
    gain. At `-log10(ALPHA)` the bound is kept, at the level at which it was broken.
    """
    factors = 1 + np.outer(BETS / (1 - bound), bound - blocks)
    capital = np.log(factors).sum(axis=1)
    return float(np.logaddexp.reduce(capital - math.log(len(BETS))) / math.log(10))
