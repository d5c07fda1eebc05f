from __future__ import annotations

import numpy as np
import pytest

from benchmarks.streams_bound import LEVEL, first_above

BOUND = 0.01


def found(share: float, streams: int, births: int = 10_000) -> list[int | None]:
    rng = np.random.default_rng(1)
    return [first_above(rng.random(births) < share, BOUND) for _ in range(streams)]


def test_a_share_that_just_keeps_the_bound_is_seldom_found_above_it() -> None:
    assert np.mean([first is not None for first in found(BOUND, 400)]) <= LEVEL


def test_a_share_within_the_bound_may_vary() -> None:
    rng = np.random.default_rng(1)
    share = np.where(np.arange(10_000) % 2000 < 1000, 0, 2 * BOUND)
    streams = [first_above(rng.random(10_000) < share, BOUND) for _ in range(200)]
    assert np.mean([first is not None for first in streams]) <= LEVEL


def test_a_share_above_the_bound_is_found_and_the_greater_the_sooner() -> None:
    twice, five_times = (found(times * BOUND, 50) for times in (2, 5))
    assert None not in twice
    assert np.median(np.array(five_times, float)) < np.median(np.array(twice, float)) / 3


def test_an_excess_is_found_when_it_occurs_even_if_it_is_made_up_for_later() -> None:
    wrong = np.arange(100_000) < 30
    assert wrong.mean() < BOUND
    assert 1 < (first_above(wrong, BOUND) or 0) < 30
    assert first_above(wrong[::-1], BOUND) is None


@pytest.mark.parametrize("births", [0, 1000])
def test_without_false_yeses_no_bound_is_broken(births: int) -> None:
    assert first_above(np.zeros(births, dtype=bool), BOUND) is None
