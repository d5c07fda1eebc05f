"""Rates."""

from __future__ import annotations

from birthmark.data.common.rates import per_second


def test_a_rate_is_whole_and_of_no_time_there_is_none() -> None:
    assert per_second(10, 4) == 2
    assert per_second(10, 0.0) is None
