"""Two counts, outcomes and false positives among them, and what they show about a bound.

The bound is a share of all files. A bet against it multiplies a capital of 1, for each outcome, by
the likelihood of that outcome at a greater share f × bound, divided by its likelihood at the bound.
The evidence is the mean capital of bets with several f. If the expected share, given the past and
averaged since the beginning, is at most the bound, it reaches 1 / ``ALPHA`` at any time with a
chance of at most ``ALPHA``: it is a nonnegative supermartingale (Ville's inequality), also for a
share that drifts, as the cumulant of a Bernoulli variable is concave in its mean (Howard, Ramdas,
McAuliffe and Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", Annals of
Statistics 49(2), 2021). Bets with f below 1 show likewise that the bound is kept. Each needs
nothing but the two counts, which may be fractions (effective counts of dependent outcomes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

ALPHA = 0.05
"""Chance with which a bound that is kept is ever shown broken."""

ABOVE = (1.0125, 1.025, 1.05, 1.1, 1.2, 1.4, 1.8, 2.6, 4.2)
"""Shares that are bet on against the bound, as multiples of it."""

BELOW = (0.05, 0.2, 0.4, 0.6, 0.75, 0.9)
"""Shares that are bet on for the bound, as multiples of it."""

SHOWN = -math.log(ALPHA)
"""The logarithm of the evidence that shows a bound broken, or kept."""

_PRECISION = 1e-6


@dataclass
class Ledger:
    """The ``false_positives`` among ``outcomes``, for a ``bound`` on their share."""

    bound: float
    outcomes: float = 0
    false_positives: float = 0

    @property
    def is_broken(self) -> bool:
        """Whether more than the bound are wrong, by more than chance."""
        return self._evidence(ABOVE) >= SHOWN

    @property
    def is_kept(self) -> bool:
        """Whether less than the bound are wrong, by more than chance."""
        return self._evidence(BELOW) >= SHOWN

    def credit(self, reserved: float = 0) -> float:
        """Return the part of the credit that is left; 0 or less forbids a yes.

        Credit is what the false positives, with those ``reserved``, are below the most; it is full,
        1, while they are within the bound.
        """
        allowed, most = self.bound * self.outcomes, most_false_positives(self.bound, self.outcomes)
        return min((most - self.false_positives - reserved) / (most - allowed), 1)

    def _evidence(self, multiples: tuple[float, ...]) -> float:
        bets = _bets(self.bound, multiples)
        return _evidence(bets, self.outcomes, self.false_positives)[0]


def most_false_positives(bound: float, outcomes: float) -> float:
    """Return the number of false positives at which the evidence is half of ``SHOWN``.

    It is bound × outcomes and about two standard deviations; 1.9 without outcomes.
    """
    bets, most = _bets(bound, ABOVE), ABOVE[-1] * bound * outcomes + 3
    while True:  # Newton's method, from above: the evidence is convex
        evidence, slope = _evidence(bets, outcomes, most)
        less = (evidence - SHOWN / 2) / slope
        most -= less
        if less < _PRECISION:
            return most


@cache
def _bets(bound: float, multiples: tuple[float, ...]) -> list[tuple[float, float]]:
    """Return by what each bet's logarithm grows with a false positive, and with another outcome."""
    shares = [min(multiple * bound, (1 + bound) / 2) for multiple in multiples]
    return [(math.log(s / bound), math.log((1 - s) / (1 - bound))) for s in shares]


def _evidence(
    bets: list[tuple[float, float]], outcomes: float, false_positives: float
) -> tuple[float, float]:
    """Return the logarithm of the mean capital, and its growth with a false positive more."""
    other = outcomes - false_positives
    capitals = [false_positives * gain + other * loss for gain, loss in bets]
    top = max(capitals)
    weights = [math.exp(capital - top) for capital in capitals]
    slope = sum(w * (gain - loss) for w, (gain, loss) in zip(weights, bets, strict=True))
    return top + math.log(sum(weights) / len(bets)), slope / sum(weights)
