"""Whether a bound on false positives was kept at every time: an anytime-valid test."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import betaincc, betaln

from birthmark.data.common.arrays import Bools, Floats

LEVEL = 0.05
"""Greatest chance that a stream whose bound always holds is found above it at any time."""


def first_above(wrong: Bools, bound: float, level: float = LEVEL) -> int | None:
    """Return the number of births after which the bound is first shown broken; None: never.

    ``wrong`` says of each birth, in order, whether its yes was false. The bound holds if after each
    birth the mean of the chances of a false yes until then, each given the past, is at most
    ``bound``. Then the test finds a time with a chance of at most ``level``, however the chances
    vary. It is the one-sided beta-binomial mixture of S. Howard, A. Ramdas, J. McAuliffe and
    J. Sekhon, "Time-uniform, nonparametric, nonasymptotic confidence sequences", The Annals of
    Statistics 49(2), 2021: an e-process, by J. Ville's inequality compared with 1 / ``level``.
    """
    births = np.flatnonzero(wrong) + 1  # between false yeses the evidence only falls
    evidence = _evidence(np.arange(1, len(births) + 1), births, bound)
    found = np.flatnonzero(evidence >= -math.log(level))
    return int(births[found[0]]) if len(found) else None


def _evidence(false: Floats, births: Floats, bound: float) -> Floats:
    """Return the log likelihood ratio of shares above ``bound`` to ``bound`` itself.

    The shares are mixed by a beta distribution whose mean is the bound, cut off below it.
    """
    a, b = 1.0, (1 - bound) / bound

    def log_beta(a: Floats | float, b: Floats | float) -> Floats:
        return np.asarray(betaln(a, b) + np.log(betaincc(a, b, bound)))

    at_bound = false * math.log(bound) + (births - false) * math.log1p(-bound)
    with np.errstate(divide="ignore"):  # far below the bound there is no evidence
        return log_beta(a + false, b + births - false) - log_beta(a, b) - at_bound
