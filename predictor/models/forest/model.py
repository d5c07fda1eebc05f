"""The modern model: a forest over all create-time columns, in integers.

Half of the score is from extremely randomized trees (Geurts, Ernst and Wehenkel, 2006), half from
boosted trees (Friedman, "Stochastic gradient boosting", 2002); ``native/learn/src/grow`` grows
both. Predicates share a forest, with a score for each in every leaf.

They were chosen by measurement (``benchmarks/learners.py``). Learned from two captured days and
asked of the third, they make 6.3% errors, and LightGBM with native categories 6.0% in 35 times the
time; within the bound on false positives, 28.1 and 27.2% of all files get a right yes. After a
search of parameters without limits of time (``benchmarks/ceiling.py``), LightGBM is 0.5 points
better on that day, and 0.3 worse where both learned from one day.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Bytes, Floats
from birthmark.features import CREATES
from birthmark.features.columns import names_of
from birthmark.features.encoding import COLUMNS, Encoding
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.models.forest.again import with_less_known
from birthmark.predictor.models.forest.forest import SPLIT_BYTES, Forest, WeightedTrees
from birthmark.predictor.models.forest.support import NO_SUPPORT, Support
from birthmark.predictor.models.learned import Answers, Learned
from birthmark.predictor.parameters import DEFAULTS
from birthmark_native import Sample, Trees

SEEN = ("name", "mode", "uid", "gid", "client", "time", "history")
"""The columns of ``features.CREATES`` that the model sees."""


IDLE = ("births", "age", "since_death")
"""The statistics of a history that the model ignores.

The first two only grow: their training values do not recur. On later days models were more
accurate without any of the three (``benchmarks/learners.py``).
"""

LOOKED_AT = [c for c, name in enumerate(COLUMNS) if name.partition(".")[2] not in IDLE]
"""The indices of the columns that the model uses."""


BOOSTED, MOST_LEAVES, LEAF_ROWS, TRIED = 1 / 3, 256, 10, 0.05
"""Parameters of boosted trees: their share of the forest's size, the greatest number of leaves, the
least number of rows in a leaf, and the share of the columns tried for a split. They were chosen
with the learners."""

HEIGHT, BOOSTED_HEIGHT = 16, 10
"""Greatest number of splits above a leaf of randomized and of boosted trees.

A lookup walks eight trees at once, and waits for the deepest: without limits it takes half as long
again, and is no more accurate."""

LEAST_KNOWN = 0.5
"""The least share of a forest's rows on which the labels of a predicate must be known."""


class CreateForest(Learned):
    """Predict by ``trees``, whose leaves hold shares of yes, and ``rounds`` of boosted trees.

    The randomized trees are grown on all rows, or each on ``rows_per_tree`` drawn with replacement
    if there are more. A leaf has at least ``leaf_rows`` of them, and a split is the best of random
    ones in the share ``tried`` of the columns. The boosted trees have the learning rate ``rate``:
    half of the score is from them, less with too few rounds.

    Training repeats some rows with columns masked, and a few with a combination of values that
    training does not have (``predictor.models.forest.again``). The trees have as many leaves as fit
    in ``kilobytes`` per predicate when compiled. ``seed`` determines all random numbers.

    A table has the columns ``SEEN`` of ``features.CREATES``, or only the name. After fitting,
    ``encoding_`` encodes it as rows of bytes, ``forest_`` scores them, and ``output_`` is the index
    of the predicate among its outputs.
    """

    support_: Support = NO_SUPPORT

    def __init__(
        self,
        trees: int = DEFAULTS.trees,
        leaf_rows: int = 3,
        tried: float = 0.2,
        rounds: int = DEFAULTS.rounds,
        rate: float = 0.15,
        rows_per_tree: int = 100_000,
        kilobytes: int = 64,
        seed: int = DEFAULTS.seed,
    ) -> None:
        self.trees = trees
        self.leaf_rows = leaf_rows
        self.tried = tried
        self.rounds = rounds
        self.rate = rate
        self.rows_per_tree = rows_per_tree
        self.kilobytes = kilobytes
        self.seed = seed

    @classmethod
    def from_forest(
        cls,
        encoding: Encoding,
        forest: Forest,
        output: int,
        support: Support = NO_SUPPORT,
        **parameters: Any,
    ) -> Self:
        """Return the model of one output of ``forest``, over a table of ``SEEN`` and booleans.

        ``support`` has the counts of training rows for its evidence.
        """
        model = cls(**parameters)._prepared(SEEN)
        model.encoding_, model.forest_, model.output_ = encoding, forest, output
        model.support_ = support
        return model

    def grow(self, matrix: Bytes, labels: Floats) -> Forest:
        """Return a forest for the rows of bytes in ``matrix``.

        ``labels`` (rows × outputs) are 1, 0, or nan where unknown.
        """
        rows, outputs = labels.shape
        if not rows:
            matrix, labels = np.zeros((1, len(COLUMNS)), np.uint8), np.zeros((1, outputs))
        matrix, labels = with_less_known(matrix, labels, self.seed)
        room = self.kilobytes * 1024 * outputs
        for_boosted = int(room * BOOSTED) if self.rounds else 0
        mean, correcting = self._boost(*self._some(matrix, labels), for_boosted)
        weight = min(self.rounds * self.rate, 1) / 2
        randomized = self._grow(matrix, labels, room - for_boosted)
        parts = [WeightedTrees(randomized, (1 - weight) / self.trees)]
        if self.rounds:
            parts.append(WeightedTrees(correcting, weight * self.rate))
        return _fitting(parts, mean, room)

    def _grow(self, matrix: Bytes, labels: Floats, room: int) -> Trees:
        return _sample(matrix, labels).randomized(
            self.trees,
            max(room // (SPLIT_BYTES * self.trees), 2),
            self.leaf_rows,
            HEIGHT,
            round(self.tried * len(LOOKED_AT)),
            self.seed,
            drawn=self.rows_per_tree if len(labels) > self.rows_per_tree else None,
        )

    def _boost(self, matrix: Bytes, labels: Floats, room: int) -> tuple[Floats, Trees]:
        leaves = room // (max(self.rounds, 1) * (SPLIT_BYTES + labels.shape[1]))
        mean, trees = _sample(matrix, labels).boosted(
            self.rounds,
            min(max(leaves, 2), MOST_LEAVES),
            LEAF_ROWS,
            BOOSTED_HEIGHT,
            round(TRIED * len(LOOKED_AT)),
            self.seed,
            self.rate,
        )
        return np.array(mean), trees

    def _some(self, matrix: Bytes, labels: Floats) -> tuple[Bytes, Floats]:
        """Return rows to boost on: each tree is grown on half of them."""
        if len(labels) <= 2 * self.rows_per_tree:
            return matrix, labels
        random = np.random.default_rng(self.seed)
        some = random.choice(len(labels), 2 * self.rows_per_tree, replace=False)
        return matrix[some], labels[some]

    def _learn(self, table: pa.Table, positive: Answers) -> None:
        creates = _creates(table)
        self.encoding_ = Encoding.learn(creates)
        self.forest_ = self.grow(self.encoding_.transform(creates), positive[:, None].astype(float))
        self.output_ = 0

    def scores(self, table: pa.Table) -> Scores:
        """Return for each row the score of a yes, from 0 to 1."""
        scores = self.forest_.predict(self.encoding_.transform(_creates(table)))
        return scores[:, self.output_]

    def _is_yes(self, scores: Scores) -> Answers:
        return scores >= 0.5


def shared(known: Sequence[Bools]) -> list[list[int]]:
    """Return the groups of labels that share a forest, by where each is ``known``.

    It learns from the rows on which any of them is known; labels that are known on fewer than
    ``LEAST_KNOWN`` of these have another forest.
    """
    rest = sorted(range(len(known)), key=lambda label: -np.count_nonzero(known[label]))
    groups = []
    while rest:
        rows = known[rest[0]]
        needed = LEAST_KNOWN * np.count_nonzero(rows)
        group = [label for label in rest if np.count_nonzero(rows & known[label]) >= needed]
        groups.append(sorted(group))
        rest = [label for label in rest if label not in group]
    return groups


def _sample(matrix: Bytes, labels: Floats) -> Sample:
    """Return rows of bytes and their labels as a native sample."""
    columns = np.ascontiguousarray(matrix[:, LOOKED_AT].T)
    answers = pa.array(labels.ravel() == 1, mask=np.isnan(labels.ravel()))
    return Sample(pa.array(columns.ravel()), answers, len(labels))


def _fitting(parts: Sequence[WeightedTrees], base: Floats, room: int) -> Forest:
    """Return the forest of ``parts``, with the first part's trees cut to fit in ``room`` bytes."""
    first, *others = parts
    forest = Forest.of(parts, base, LOOKED_AT, len(COLUMNS))
    leaves = first.trees.most_leaves
    fixed = (SPLIT_BYTES + forest.outputs) * sum(part.trees.leaves for part in others)
    while forest.compiled_bytes > room and leaves > 1:
        part = (room - fixed) / max(forest.compiled_bytes - fixed, 1)
        leaves = max(int(leaves * min(max(part, 0.5), 0.98)), 1)
        smaller = replace(first, leaves=leaves)
        forest = Forest.of([smaller, *others], base, LOOKED_AT, len(COLUMNS))
    return forest


def _creates(table: pa.Table) -> pa.Table:
    if "name" in table.column_names:
        return table
    unknown = {c: pa.nulls(len(table), CREATES.field(c).type) for c in SEEN if c != "name"}
    return pa.table({"name": names_of(table)} | unknown)
