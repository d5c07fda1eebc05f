"""The modern model: a forest over all create-time columns, in whole numbers.

The learners are scikit-learn's ``ExtraTreesRegressor`` (Geurts, Ernst and Wehenkel, "Extremely
randomized trees", 2006) and trees that correct each other (``predictor.models.forest.boosting``),
half of the score from each: one forest for all predicates that are known of the same lives, a leaf
having a score for each.

They were chosen by measurement (``benchmarks/learners.py``; one captured day learned from, the next
two tested on). The former are as often right as LightGBM with native categories, in a thirtieth of
the time, and find fewer files within the bound on false positives; the two together find more than
LightGBM.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Bytes, Floats
from birthmark.features import CREATES, HISTORY_BYTES
from birthmark.features.columns import names_of
from birthmark.features.encoding import COLUMNS, Encoding
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.models.forest.forest import SPLIT_BYTES, FittedTrees, Forest
from birthmark.predictor.models.learned import Answers, Learned
from birthmark.predictor.parameters import DEFAULTS

SEEN = ("name", "mode", "uid", "gid", "client", "time", "history")
"""The columns of ``features.CREATES`` that the model sees."""


IDLE = ("births", "age", "since_death")
"""The statistics of a history that the model does not look at.

The first two only grow: what they were in training does not come again. On later days models were
more often right without any of the three (``benchmarks/learners.py``).
"""

LOOKED_AT = [c for c, name in enumerate(COLUMNS) if name.partition(".")[2] not in IDLE]
"""The places of the columns that the model looks at."""


BOOSTED, MOST_LEAVES, LEAF_ROWS, TRIED = 1 / 3, 256, 10, 0.05
"""Of trees that correct others: the share of the room they have, how many leaves each has at most,
how many rows a leaf has at least, and the share of the columns of which a split is the best. They
were chosen with the learners."""


class CreateForest(Learned):
    """Predict by ``trees``, whose leaves hold shares of yes, and ``rounds`` of trees that correct.

    The former are grown on all rows, or each on ``rows_per_tree`` drawn with replacement where
    there are more; a leaf has at least ``leaf_rows`` of them, and a split is the best of random
    ones in the share ``tried`` of the columns. The latter are those of
    ``predictor.models.forest.boosting``, at ``rate``: half of the score is from them, less where
    there are too few rounds to get there.

    A share ``blind`` of the rows is learned from a second time without their history, so that a
    create whose history is unknown is not taken for the first of its kind. The trees have as many
    leaves as fit in ``kilobytes`` per predicate when compiled. All chance is from ``seed``.

    A table has the columns ``SEEN`` of ``features.CREATES``, or the name alone. After fitting,
    ``encoding_`` makes rows of bytes of it, ``forest_`` scores them, and ``output_`` is the place
    of the predicate among its outputs.
    """

    def __init__(
        self,
        trees: int = DEFAULTS.trees,
        leaf_rows: int = 3,
        tried: float = 0.2,
        blind: float = 0.25,
        rounds: int = DEFAULTS.rounds,
        rate: float = 0.1,
        rows_per_tree: int = 100_000,
        kilobytes: int = 64,
        seed: int = DEFAULTS.seed,
    ) -> None:
        self.trees = trees
        self.leaf_rows = leaf_rows
        self.tried = tried
        self.blind = blind
        self.rounds = rounds
        self.rate = rate
        self.rows_per_tree = rows_per_tree
        self.kilobytes = kilobytes
        self.seed = seed

    @classmethod
    def from_forest(
        cls, encoding: Encoding, forest: Forest, output: int, **parameters: Any
    ) -> Self:
        """Return the model of one output of ``forest``, over a table of ``SEEN`` and booleans."""
        model = cls(**parameters)._prepared(SEEN)
        model.encoding_, model.forest_, model.output_ = encoding, forest, output
        return model

    def grow(self, matrix: Bytes, labels: Bools) -> Forest:
        """Return a forest for ``labels`` (rows × outputs) of the rows of bytes in ``matrix``."""
        rows, outputs = labels.shape
        if not rows:
            matrix, labels = np.zeros((1, len(COLUMNS)), np.uint8), np.zeros((1, outputs), bool)
        matrix, labels = self._with_blind(matrix, labels)
        seen, answers = matrix[:, LOOKED_AT], labels.astype(np.float64)
        room = self.kilobytes * 1024 * outputs
        for_boosted = int(room * BOOSTED) if self.rounds else 0
        mean, correcting = self._boost(seen, answers, for_boosted)
        weight = min(self.rounds * self.rate, 1) / 2
        parts = [
            FittedTrees(self._grow(seen, answers, room - for_boosted), (1 - weight) / self.trees),
            FittedTrees(correcting, weight * self.rate),
        ]
        return _fitting(parts, weight * mean, room)

    def _grow(self, seen: Bytes, answers: Floats, room: int) -> list[Any]:
        from sklearn.ensemble import ExtraTreesRegressor  # slow to import, and only to learn

        drawn = len(answers) > self.rows_per_tree
        regressor = ExtraTreesRegressor(
            self.trees,
            min_samples_leaf=self.leaf_rows,
            max_features=self.tried,
            max_leaf_nodes=max(room // (SPLIT_BYTES * self.trees), 2),
            bootstrap=drawn,
            max_samples=self.rows_per_tree if drawn else None,
            n_jobs=-1,
            random_state=self.seed,
        )
        regressor.fit(seen, answers if answers.shape[1] > 1 else answers.ravel())
        return list(regressor.estimators_)

    def _boost(self, seen: Bytes, answers: Floats, room: int) -> tuple[Floats, list[Any]]:
        from birthmark.predictor.models.forest.boosting import boosted  # likewise

        leaves = room // (max(self.rounds, 1) * (SPLIT_BYTES + answers.shape[1]))
        return boosted(
            seen,
            answers,
            self.rounds,
            self.rate,
            self.rows_per_tree,
            self.seed,
            max_leaf_nodes=min(max(leaves, 2), MOST_LEAVES),
            min_samples_leaf=LEAF_ROWS,
            max_features=TRIED,
        )

    def _with_blind(self, matrix: Bytes, labels: Bools) -> tuple[Bytes, Bools]:
        again = np.random.default_rng(self.seed).random(len(labels)) < self.blind
        blind = matrix[again]
        blind[:, :HISTORY_BYTES] = 0
        return np.vstack([matrix, blind]), np.vstack([labels, labels[again]])

    def _learn(self, table: pa.Table, positive: Answers) -> None:
        creates = _creates(table)
        self.encoding_ = Encoding.learn(creates)
        self.forest_ = self.grow(self.encoding_.transform(creates), positive[:, None])
        self.output_ = 0

    def scores(self, table: pa.Table) -> Scores:
        """Return for each row how sure a yes is, from 0 to 1."""
        scores = self.forest_.predict(self.encoding_.transform(_creates(table)))
        return scores[:, self.output_]

    def _is_yes(self, scores: Scores) -> Answers:
        return scores >= 0.5


def shared(known: Sequence[Bools], loss: float = 0.02) -> list[list[int]]:
    """Return which labels can share a forest, by where each is ``known``.

    A shared forest learns from the rows on which all its labels are known: they share one if none
    of them loses more than ``loss`` of its known rows by that.
    """
    rest = sorted(range(len(known)), key=lambda label: -np.count_nonzero(known[label]))
    groups = []
    while rest:
        group, joint = [rest[0]], known[rest[0]]
        for label in rest[1:]:
            rows = joint & known[label]
            needed = max(np.count_nonzero(known[member]) for member in (*group, label))
            if np.count_nonzero(rows) >= (1 - loss) * needed:
                group, joint = [*group, label], rows
        groups.append(sorted(group))
        rest = [label for label in rest if label not in group]
    return groups


def _fitting(parts: Sequence[FittedTrees], base: Floats, room: int) -> Forest:
    """Return as much of the first part's trees, and all others, as fit in ``room`` bytes."""
    first, *others = parts
    forest = Forest.of(parts, base, LOOKED_AT, len(COLUMNS))
    leaves = max(tree.get_n_leaves() for tree in first.trees)
    corrected = sum(tree.get_n_leaves() for part in others for tree in part.trees)
    fixed = (SPLIT_BYTES + forest.outputs) * corrected
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
