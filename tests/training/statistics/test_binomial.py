from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binomtest

from birthmark.training.statistics.binomial import broken, interval


def test_for_independent_rows_the_interval_is_clopper_and_pearsons() -> None:
    hits = np.zeros(1000)
    hits[:7] = 1
    exact = binomtest(7, 1000).proportion_ci()
    # the blocks' differences are a thousandth more than those of rows
    assert interval(hits, np.ones(1000)) == pytest.approx((exact.low, exact.high), rel=0.01)


def test_no_false_positive_among_few_rows_does_not_show_that_there_are_none() -> None:
    assert interval(np.zeros(20), np.full(20, 18.0))[1] > 0.01  # type: ignore[index]
    assert interval(np.zeros(23), np.full(23, 16.0))[1] < 0.01  # type: ignore[index]
    assert interval(np.full(2, 9.0), np.full(2, 9.0))[1] == 1  # type: ignore[index]


def test_one_block_has_no_interval() -> None:
    assert interval(np.ones(1), np.full(1, 500.0)) is None
    assert interval(np.zeros(0), np.zeros(0)) is None


def test_the_interval_holds_the_share_as_often_as_it_says() -> None:
    """Blocks whose own rates scatter about 1%, as those of real hours do."""
    random = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        rates = random.gamma(2, 0.005, 24)
        ends = interval(random.poisson(200 * rates).astype(float), np.full(24, 200.0))
        assert ends is not None
        held += ends[0] <= 0.01 <= ends[1]
    assert held / 400 > 0.93


def test_many_tests_together_are_judged_more_strictly_than_one() -> None:
    """Holm: the smallest of m against alpha / m, the next against alpha / (m - 1), …"""
    assert broken([0.04]) == [True]
    assert broken([0.04, 0.9, 0.5]) == [False, False, False]
    assert broken([0.9, 0.01, None, 0.02]) == [False, True, False, True]
    # the step that fails stops all after it
    assert broken([0.026, 0.03, 0.001]) == [False, False, True]
    assert broken([]) == []
