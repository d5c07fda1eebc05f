from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor

from birthmark.predictor.models.forest.forest import EDGE, FULL, LEAF, FittedTrees, Forest, bent

WIDTH, OUTPUTS, TREES = 6, 3, 5


def rows(seed: int, count: int = 400) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (count, WIDTH)).astype(np.uint8)


def labels(matrix: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
    a, b, c = (matrix[:, column].astype(int) for column in range(3))
    return np.column_stack([a > 100, a + b > 255, (a > 60) & (c < 128)]).astype(float)


def grown(leaves: int | None = None, seed: int = 0) -> tuple[ExtraTreesRegressor, Forest]:
    matrix = rows(seed)
    regressor = ExtraTreesRegressor(
        TREES, min_samples_leaf=3, max_leaf_nodes=leaves, random_state=seed
    ).fit(matrix, labels(matrix))
    return regressor, forest_of(regressor)


def forest_of(regressor: ExtraTreesRegressor, leaves: int | None = None) -> Forest:
    part = FittedTrees(regressor.estimators_, 1 / len(regressor.estimators_), leaves)
    return Forest.of([part], np.zeros(OUTPUTS), range(WIDTH), WIDTH)


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


@pytest.mark.parametrize("leaves", [None, 2, 9])
def test_it_predicts_what_scikit_learn_does_but_for_rounded_shares(leaves):
    regressor, forest = grown(leaves)
    matrix = rows(99)
    expected = bent(regressor.predict(matrix))
    assert np.abs(forest.predict(matrix) - expected).max() <= 0.5 / FULL + 1e-9
    assert np.array_equal(forest.predict(matrix), oracle(forest, matrix))


def test_a_part_of_the_trees_is_what_they_were_before_they_grew_on():
    regressor, _ = grown(60)
    part = forest_of(regressor, leaves=9)
    _, small = grown(9)
    for name in ("column", "threshold", "target", "rows", "roots", "scores", "base"):
        assert np.array_equal(getattr(part, name), getattr(small, name)), name


def test_columns_are_those_of_the_whole_row():
    matrix = rows(0)
    regressor = ExtraTreesRegressor(3, random_state=0).fit(matrix[:, [4, 1]], labels(matrix))
    forest = Forest.of(
        [FittedTrees(regressor.estimators_, 1 / 3)], np.zeros(OUTPUTS), [4, 1], WIDTH
    )
    assert set(forest.column.tolist()) == {1, 4, LEAF}
    expected = bent(regressor.predict(rows(1)[:, [4, 1]]))
    assert np.abs(forest.predict(rows(1)) - expected).max() <= 0.5 / FULL + 1e-9


def test_weighted_trees_are_added_to_a_base():
    matrix, parts = rows(0), []
    for seed, weight in ((1, 0.3), (2, -0.2)):
        trees = ExtraTreesRegressor(2, random_state=seed, min_samples_leaf=5)
        parts.append(FittedTrees(trees.fit(matrix, labels(matrix)).estimators_, weight))
    base = np.array([0.1, 0.5, 0.9])
    forest = Forest.of(parts, base, range(WIDTH), WIDTH)
    sums = base + sum(p.weight * tree.predict(rows(1)) for p in parts for tree in p.trees)
    assert np.abs(forest.predict(rows(1)) - bent(sums)).max() <= 4 * 0.5 * forest.unit + 1e-9


def test_sums_are_bent_into_0_to_1_and_keep_their_order():
    sums = np.linspace(-2, 3, 5001)
    scores = bent(sums)
    assert (np.diff(scores) > 0).all()
    assert 0 < scores[0] < scores[-1] < 1
    inside = (sums >= EDGE) & (sums <= 1 - EDGE)
    assert np.array_equal(scores[inside], sums[inside])


@given(st.integers(0, 20), st.integers(0, 130))
def test_any_number_of_rows_is_predicted_as_each_alone(seed, count):
    _, forest = grown(seed=seed % 2)
    matrix = rows(seed, count)
    assert np.array_equal(forest.predict(matrix), oracle(forest, matrix))


def test_leaves_count_the_training_rows_and_equal_scores_are_kept_once():
    _, forest = grown()
    leaf = forest.column == LEAF
    assert forest.rows[leaf].sum() == TREES * len(rows(0))
    assert not forest.rows[~leaf].any()
    assert len(np.unique(forest.scores, axis=0)) == len(forest.scores) < leaf.sum()
    assert forest.compiled_bytes == 8 * np.count_nonzero(~leaf) + forest.scores.size


def test_the_mean_at_a_node_is_that_of_the_training_rows_that_came_through_it():
    _, forest = grown()
    matrix, through = rows(0), {}
    for row in matrix:
        for way in forest.walk(row):
            for node in (*way.splits, way.leaf):
                through.setdefault(node, []).append(forest.scores[forest.target[way.leaf]])
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
        ({"roots": [3]}, "tree 0 begins behind the last node"),
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
