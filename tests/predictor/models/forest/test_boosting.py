from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from birthmark.predictor.models.forest.boosting import boosted


def rows(count: int) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    matrix = np.random.default_rng(5).integers(0, 256, (count, 4)).astype(np.uint8)
    wide = matrix.astype(int)
    return matrix, np.column_stack([wide[:, 0] + wide[:, 1] > 255, wide[:, 2] > 90]).astype(float)


def left(matrix: NDArray[np.uint8], answers: NDArray[np.float64], rounds: int) -> float:
    """Return what is left of the answers, mean and trees taken from them, squared."""
    mean, trees = boosted(matrix, answers, rounds, 0.3, 10_000, 0, max_leaf_nodes=8)
    assert len(trees) == rounds
    rest = answers - mean - sum(0.3 * tree.predict(matrix) for tree in trees)
    return float(np.mean(rest**2))


def test_each_tree_leaves_less_of_the_answers() -> None:
    shrinking = [left(*rows(1000), rounds) for rounds in (0, 5, 20, 60)]
    assert shrinking == sorted(shrinking, reverse=True)
    assert shrinking[-1] < 0.1 * shrinking[0]


def test_a_tree_sees_half_of_the_rows_and_no_more_than_allowed() -> None:
    matrix, answers = rows(1001)
    for most, seen in ((10_000, 501), (200, 200)):
        _, trees = boosted(matrix, answers, 3, 0.3, most, 0)
        assert {tree.tree_.n_node_samples[0] for tree in trees} == {seen}
    first, second = (tree.predict(matrix) for tree in trees[:2])
    assert not np.array_equal(first, second)


def test_the_same_seed_makes_the_same_trees_of_one_output_too() -> None:
    matrix, answers = rows(300)
    one, two, other = (
        boosted(matrix, answers[:, :1], 3, 0.3, 1000, seed)[1][-1].predict(matrix)
        for seed in (1, 1, 2)
    )
    assert np.array_equal(one, two)
    assert not np.array_equal(one, other)
