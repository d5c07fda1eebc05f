from __future__ import annotations

import numpy as np

from birthmark.training.control.regaining import MINUTE, Regaining

BOUND = 0.01
A_MINUTE = 300
"""Number of outcomes in each minute."""


def minutes_until_kept(share: float, most: int = 3000) -> int | None:
    """Return after how many minutes the bound is kept again, where such a share is false."""
    random = np.random.default_rng(7)
    regaining = Regaining(BOUND, 5000, 400)
    outcomes, false = 5000, 400
    for minute in range(most):
        if regaining.count(minute * MINUTE, outcomes, false):
            return minute
        outcomes += A_MINUTE
        false += int(random.binomial(A_MINUTE, share))
    return None


def test_a_bound_that_is_kept_is_regained_and_one_that_is_not_never() -> None:
    soonest, later = minutes_until_kept(0.0), minutes_until_kept(0.004)
    assert soonest is not None
    assert later is not None
    assert 300 < soonest < later
    assert minutes_until_kept(BOUND) is None
    assert minutes_until_kept(0.03) is None


def test_a_burst_within_a_minute_is_one_event() -> None:
    regaining = Regaining(BOUND, 0, 0)
    for part in range(1000):
        assert not regaining.count(5 + part, 1000 * part, 0)
    assert not regaining.count(MINUTE + 5, 10**6, 0)
    assert len(regaining.shares) == 1


def test_a_regained_yes_stays() -> None:
    regaining = Regaining(BOUND, 0, 0, is_done=True)
    assert regaining.count(0, 0, 0)
    assert regaining.count(MINUTE, 100, 100)
    assert regaining.count(2 * MINUTE, 200, 200)
