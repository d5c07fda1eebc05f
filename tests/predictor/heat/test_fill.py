from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from birthmark.predictor.heat import bar, entry_bar, fill

FILES = st.lists(
    st.tuples(st.floats(0, 1000, width=32), st.integers(0, 50)), min_size=1, max_size=12
)


def test_the_files_of_most_benefit_per_block_come_first_and_the_last_in_part():
    writes, blocks = [10.0, 90.0, 40.0, 0.0], [10, 30, 10, 5]
    assert fill(45, writes, blocks).tolist() == [5, 30, 10, 0]
    assert fill(0, writes, blocks).tolist() == [0, 0, 0, 0]
    assert fill(1000, writes, blocks).tolist() == [10, 30, 10, 0]


@given(FILES, st.integers(0, 200))
def test_no_other_choice_has_more_writes_in_the_region(files, region):
    writes, blocks = (np.array(column, dtype=float) for column in zip(*files, strict=True))
    granted = fill(region, writes, blocks)
    assert np.all((granted >= 0) & (granted <= blocks))
    assert granted.sum() <= region + 1e-9
    density = np.divide(writes, blocks, out=np.zeros_like(writes), where=blocks > 0)
    best = linprog(
        -density,
        A_ub=[np.ones_like(blocks)],
        b_ub=[region],
        bounds=list(zip(0 * blocks, blocks, strict=True)),
    )
    assert float(density @ granted) == pytest.approx(-best.fun, rel=1e-6, abs=1e-6)


@given(FILES, st.integers(0, 200))
def test_the_bar_separates_selected_from_other_files(files, region):
    writes, blocks = (np.array(column, dtype=float) for column in zip(*files, strict=True))
    granted, least = fill(region, writes, blocks), bar(region, writes, blocks)
    sized = blocks > 0
    density = writes[sized] / blocks[sized]
    assert np.all(density[granted[sized] > 0] >= least)
    assert np.all(granted[sized][density > least] == blocks[sized][density > least])


def test_a_region_with_room_for_all_asks_nothing_and_one_without_room_everything():
    assert bar(100, [1.0, 2.0], [10, 20]) == 0
    assert bar(0, [1.0, 2.0], [10, 20]) == float("inf")


def test_a_fuller_region_asks_for_more():
    assert entry_bar(10.0, [0, 0.5, 1]).tolist() == pytest.approx([2.5, 10, 40])


@pytest.mark.parametrize(
    ("region", "writes", "blocks"),
    [(-1, [1.0], [1]), (1, [-1.0], [1]), (1, [1.0], [-1]), (1, [float("nan")], [1])],
)
def test_negative_numbers_are_refused(region, writes, blocks):
    with pytest.raises(ValueError, match="0 or more"):
        fill(region, writes, blocks)
