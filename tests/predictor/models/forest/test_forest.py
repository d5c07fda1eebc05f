from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.predictor.models.forest.forest import (
    EDGE,
    FULL,
    LEAF,
    REFIT_PASSES,
    REFIT_PRIOR,
    REFIT_RATE,
    Forest,
    WeightedTrees,
    sigmoid,
)
from birthmark_native import Sample, Trees

WIDTH, OUTPUTS, TREES = 6, 3, 5


def rows(seed: int, count: int = 400) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (count, WIDTH)).astype(np.uint8)


def labels(matrix: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    a, b, c = (matrix[:, column].astype(int) for column in range(3))
    return np.column_stack([a > 100, a + b > 255, (a > 60) & (c < 128)])


def grown(columns=range(WIDTH), trees: int = TREES, leaves: int = 100, seed: int = 0) -> Trees:
    matrix = rows(seed)
    sample = Sample(
        pa.array(matrix[:, columns].T.ravel()), pa.array(labels(matrix).ravel()), len(matrix)
    )
    return sample.randomized(trees, leaves, 3, 255, 2, seed)


def forest_of(trees: Trees, leaves: int | None = None) -> Forest:
    part = WeightedTrees(trees, 1 / TREES, leaves)
    return Forest.of([part], np.zeros(OUTPUTS), range(WIDTH), WIDTH)


def predicted(trees: Trees, matrix: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return the means of the leaves that rows come to, added up."""
    nodes, roots, means = trees.nodes()
    column, threshold, target, _ = (nodes[name].to_numpy() for name in nodes.schema.names)
    leaf_means = dict(
        zip(np.flatnonzero(column == LEAF), means.to_numpy().reshape(-1, OUTPUTS), strict=True)
    )
    sums = np.zeros((len(matrix), OUTPUTS))
    for place, row in enumerate(matrix):
        for node in roots.to_pylist():
            while column[node] != LEAF:
                node = node + 1 if row[column[node]] <= threshold[node] else target[node]
            sums[place] += leaf_means[node]
    return sums


def oracle(forest: Forest, matrix: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    """Return what the forest predicts, row by row and step by step."""
    sums = np.zeros((len(matrix), forest.outputs), dtype=int)
    for place, row in enumerate(matrix):
        for node in forest.roots.tolist():
            while forest.column[node] != LEAF:
                smaller = row[forest.column[node]] <= forest.threshold[node]
                node = node + 1 if smaller else int(forest.target[node])
            sums[place] += forest.scores[forest.target[node]]
    return forest.score(sums)


@pytest.mark.parametrize("leaves", [100, 2, 9])
def test_it_predicts_what_its_trees_do_but_for_rounded_shares(leaves):
    trees, matrix = grown(leaves=leaves), rows(99)
    forest = forest_of(trees)
    expected = sigmoid(predicted(trees, matrix) / TREES)
    assert np.abs(forest.predict(matrix) - expected).max() <= 0.5 / FULL + 1e-6
    assert np.array_equal(forest.predict(matrix), oracle(forest, matrix))


def test_trees_can_be_cut_to_fewer_leaves():
    part, small = forest_of(grown(leaves=60), leaves=9), forest_of(grown(leaves=9))
    assert len(part.column) == TREES * (2 * 9 - 1)
    for name in ("column", "threshold", "target", "rows", "roots", "scores", "base"):
        assert np.array_equal(getattr(part, name), getattr(small, name)), name


def test_columns_are_those_of_the_whole_row():
    trees = grown(columns=[4, 1])
    forest = Forest.of([WeightedTrees(trees, 1 / TREES)], np.zeros(OUTPUTS), [4, 1], WIDTH)
    assert set(forest.column.tolist()) == {1, 4, LEAF}
    expected = sigmoid(predicted(trees, rows(1)[:, [4, 1]]) / TREES)
    assert np.abs(forest.predict(rows(1)) - expected).max() <= 0.5 / FULL + 1e-6


def test_weighted_trees_are_added_to_a_base():
    parts = [
        WeightedTrees(grown(trees=2, seed=seed), weight) for seed, weight in ((1, 0.3), (2, -0.2))
    ]
    base = np.array([0.1, 0.5, 0.9])
    forest = Forest.of(parts, base, range(WIDTH), WIDTH)
    sums = base + sum(part.weight * predicted(part.trees, rows(1)) for part in parts)
    assert np.abs(forest.predict(rows(1)) - sigmoid(sums)).max() <= 4 * 0.5 * forest.unit + 1e-6


def test_the_sigmoid_maps_sums_into_0_to_1_and_keeps_their_order():
    sums = np.linspace(-2, 3, 5001)
    scores = sigmoid(sums)
    assert (np.diff(scores) > 0).all()
    assert 0 < scores[0] < scores[-1] < 1
    inside = (sums >= EDGE) & (sums <= 1 - EDGE)
    assert np.array_equal(scores[inside], sums[inside])


@given(st.integers(0, 20), st.integers(0, 130))
def test_any_number_of_rows_is_predicted_as_each_alone(seed, count):
    forest = forest_of(grown(seed=seed % 2))
    matrix = rows(seed, count)
    assert np.array_equal(forest.predict(matrix), oracle(forest, matrix))


def test_leaves_count_the_training_rows_and_equal_scores_are_stored_once():
    forest = forest_of(grown())
    leaf = forest.column == LEAF
    assert forest.rows[leaf].sum() == TREES * len(rows(0))
    assert not forest.rows[~leaf].any()
    assert len(np.unique(forest.scores, axis=0)) == len(forest.scores) < leaf.sum()
    assert forest.compiled_bytes == 8 * np.count_nonzero(~leaf) + forest.scores.size


def test_the_mean_at_a_node_is_that_of_the_training_rows_that_came_through_it():
    forest = forest_of(grown())
    matrix, through = rows(0), {}
    for ways in forest.walk(matrix):
        scores = forest.scores[forest.target[ways.leaves]]
        for rows_there, nodes, _ in [*ways.splits, (range(len(matrix)), ways.leaves, None)]:
            for row, node in zip(rows_there, nodes.tolist(), strict=True):
                through.setdefault(node, []).append(scores[row])
    assert sorted(through) == list(range(len(forest.column)))
    for node, scores in through.items():
        assert forest.means[node] == pytest.approx(forest.unit * np.mean(scores, axis=0))


def damaged(**changes: object) -> Forest:
    parts = {
        "column": [0, LEAF, LEAF],
        "threshold": [9, 0, 0],
        "target": [2, 0, 1],
        "rows": [0, 3, 4],
        "roots": [0],
        "scores": [[0], [255]],
        "base": [0],
        **changes,
    }
    unit = parts.pop("unit", 1 / FULL)
    kinds = {"column": "u2", "threshold": "u1", "scores": "u1", "base": "f8"}
    arrays = {name: np.array(part, kinds.get(name, "u4")) for name, part in parts.items()}
    return Forest(**arrays, width=WIDTH, unit=unit)


def test_nodes_that_make_no_trees_are_refused():
    both = damaged().predict(np.array([[9] * WIDTH, [10] * WIDTH], "u1"))
    assert both.tolist() == [[EDGE / 2], [1 - EDGE / 2]]
    for changes, reason in (
        ({"roots": []}, "without trees"),
        ({"roots": [3]}, "tree 0 begins after the last node"),
        ({"column": [WIDTH, LEAF, LEAF]}, "node 0 splits on column 6"),
        ({"target": [3, 0, 1]}, "node 0 has a child that does not come after it"),
        ({"target": [1, 0, 1]}, "node 0 has a child that does not come after it"),
        ({"column": [0, LEAF, 0]}, "node 2 has a child that does not come after it"),
        ({"target": [2, 0, 2]}, "node 2 is a leaf without scores"),
        ({"threshold": [9, 0]}, "a column, a threshold and a target each"),
        ({"base": [0, 0]}, "a base for 1 outputs"),
        ({"base": [np.nan]}, "a unit above 0, and a base"),
        ({"unit": 0}, "a unit above 0, and a base"),
    ):
        with pytest.raises(ValueError, match=reason):
            damaged(**changes)


def simply_refit(
    forest: Forest, matrix: npt.NDArray[np.uint8], answers: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return the refitted score of each leaf by its node, before rounding (the oracle)."""
    leaves = np.stack([path.leaves for path in forest.walk(matrix)], axis=1)
    scores = np.zeros((len(forest.column), OUTPUTS))
    leaf = forest.column == LEAF
    scores[leaf] = forest.scores[forest.target[leaf]]
    for _ in range(REFIT_PASSES):
        sums = forest.base + forest.unit * scores[leaves].sum(axis=1)
        residuals = np.where(np.isnan(answers), 0.0, answers - sums)
        moved, known = np.zeros_like(scores), np.zeros_like(scores)
        for tree in range(len(forest.roots)):
            np.add.at(moved, leaves[:, tree], residuals)
            np.add.at(known, leaves[:, tree], ~np.isnan(answers))
        step = REFIT_RATE / len(forest.roots) / forest.unit
        scores = np.clip(scores + step * moved / (known + REFIT_PRIOR), 0, FULL)
    return scores[leaf]


def test_a_refit_moves_leaves_towards_new_answers_and_keeps_splits_unit_and_base() -> None:
    forest, matrix = forest_of(grown()), rows(1)
    answers = (~labels(matrix)).astype(float)
    answers[::3, 0] = np.nan
    refit = forest.refit(matrix, answers)
    leaf = forest.column == LEAF
    expected = simply_refit(forest, matrix, answers)
    assert np.abs(refit.scores[refit.target[leaf]] - expected).max() < 0.51
    assert (refit.unit, refit.base.tolist()) == (forest.unit, forest.base.tolist())
    assert (refit.column == forest.column).all()
    assert (refit.threshold == forest.threshold).all()

    def error(own: Forest) -> float:
        return float(np.nanmean((own.predict(matrix) - answers) ** 2))

    assert error(refit) < 0.7 * error(forest)


def test_a_refit_without_known_answers_changes_nothing() -> None:
    forest, matrix = forest_of(grown()), rows(1)
    refit = forest.refit(matrix, np.full((len(matrix), OUTPUTS), np.nan))
    assert (refit.predict(rows(2)) == forest.predict(rows(2))).all()


def test_outputs_of_a_refit_replace_some_of_a_forest() -> None:
    forest, matrix = forest_of(grown()), rows(1)
    refit = forest.refit(matrix, (~labels(matrix)).astype(float))
    mixed = forest.with_outputs(refit, [1])
    scores, expected = mixed.predict(matrix), forest.predict(matrix)
    expected[:, 1] = refit.predict(matrix)[:, 1]
    assert (scores == expected).all()
    assert (refit.predict(matrix)[:, 1] != forest.predict(matrix)[:, 1]).any()


def test_a_refit_refuses_answers_of_other_rows() -> None:
    with pytest.raises(ValueError, match="matrix"):
        forest_of(grown()).refit(rows(1), np.zeros((3, OUTPUTS)))
