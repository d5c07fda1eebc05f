from __future__ import annotations

import numpy as np
import pytest

from birthmark.training.statistics.bootstrap import (
    Blocks,
    blocks_of,
    interval,
    resampled,
)

SECOND = 1_000_000


def test_days_are_the_blocks_of_a_test_on_several() -> None:
    times = np.arange(0, 4 * 86_400, 3600) * SECOND
    blocks = blocks_of(times)
    assert (blocks.count, blocks.seconds) == (4, 86_400)
    assert blocks.sums(np.ones(len(times), bool)).tolist() == [24, 24, 24, 24]


def test_a_shorter_test_has_the_longest_blocks_that_are_twenty() -> None:
    five_minutes = np.arange(0, 300) * SECOND
    assert (blocks_of(five_minutes).count, blocks_of(five_minutes).seconds) == (30, 10)
    day = np.arange(0, 86_400, 60) * SECOND
    assert (blocks_of(day).count, blocks_of(day).seconds) == (24, 3600)


def test_blocks_may_be_asked_not_to_be_short() -> None:
    five_minutes = np.arange(0, 300) * SECOND
    blocks = blocks_of(five_minutes, 60)
    assert (blocks.count, blocks.seconds) == (5, 60)


def test_time_in_which_nothing_was_born_is_no_block() -> None:
    times = np.array([0, 1, 10 * 86_400, 20 * 86_400, 30 * 86_400]) * SECOND
    blocks = blocks_of(times)
    assert (blocks.count, blocks.of_row.tolist()) == (4, [0, 0, 1, 2, 3])
    assert blocks_of(np.array([], np.int64)).count == 0


def test_the_same_seed_draws_the_same_blocks_for_all_sums() -> None:
    sums = [np.arange(30.0), 2 * np.arange(30.0)]
    once, twice = resampled(sums, seed=5)
    assert np.array_equal(2 * once, twice)
    assert np.array_equal(resampled(sums, seed=5)[0], once)
    assert not np.array_equal(resampled(sums, seed=6)[0], once)


def test_one_block_tells_nothing_of_its_own_scatter() -> None:
    assert interval(np.ones(10), 1, 1) is None
    assert interval(np.full(10, np.nan), 5, 1) is None


@pytest.mark.parametrize("count", [4, 20, 60])
def test_intervals_hold_a_share_as_often_as_they_say(count: int) -> None:
    """Blocks of unequal size whose own shares scatter about 0.3: what rows alone would not show."""
    random = np.random.default_rng(7)
    trials, held, single = 400, 0, 0
    for trial in range(trials):
        rows = random.integers(50, 150, count)
        hits = random.binomial(rows, np.clip(random.normal(0.3, 0.1, count), 0, 1))
        n, yes = resampled([rows.astype(float), hits.astype(float)], seed=trial, resamples=500)
        ends = interval(yes / n, count, 1)
        assert ends is not None
        held += ends[0] <= 0.3 <= ends[1]
        share = hits.sum() / rows.sum()
        single += abs(share - 0.3) <= 1.96 * np.sqrt(share * (1 - share) / rows.sum())
    assert 0.92 <= held / trials <= 0.99
    assert single / trials < 0.75


def test_sums_of_blocks_add_up_to_the_sum_of_rows() -> None:
    blocks = Blocks(np.array([0, 1, 1, 2]), 3, 1)
    assert blocks.sums(np.array([0.5, 1.0, 2.0, 4.0])).tolist() == [0.5, 3.0, 4.0]
