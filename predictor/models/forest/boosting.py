"""Trees that each correct the ones before, for several outputs at once.

Gradient boosting with the squared error (Friedman, "Greedy function approximation: a gradient
boosting machine", 2001), each tree on a part of the rows (Friedman, "Stochastic gradient boosting",
2002). scikit-learn's own boosting grows trees for one output; here all share them, as in a forest.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from birthmark.data.common.arrays import Bytes, Floats


def boosted(
    matrix: Bytes,
    answers: Floats,
    rounds: int,
    rate: float,
    rows: int,
    seed: int,
    **parameters: Any,
) -> tuple[Floats, list[DecisionTreeRegressor]]:
    """Return the means of ``answers`` (rows × outputs), and a tree for each of ``rounds``.

    Each is grown, with ``parameters`` of scikit-learn's, on half of the rows, drawn without
    replacement (``rows`` of them at most), to predict what is left of the answers when the means
    and ``rate`` times the trees before are taken from them.
    """
    random = np.random.default_rng(seed)
    if len(matrix) > 2 * rows:
        some = random.choice(len(matrix), 2 * rows, replace=False)
        matrix, answers = matrix[some], answers[some]
    wide = matrix.astype(np.float32)
    mean = answers.mean(axis=0)
    left = answers - mean
    trees = []
    for number in range(rounds):
        drawn = random.permutation(len(wide))[: -(-len(wide) // 2)]
        tree = DecisionTreeRegressor(random_state=seed + number, **parameters)
        tree.fit(wide[drawn], left[drawn] if left.shape[1] > 1 else left[drawn].ravel())
        left -= rate * tree.predict(wide).reshape(left.shape)
        trees.append(tree)
    return mean, trees
