"""Forests of binary trees over rows of bytes, with integer thresholds and scores.

This is the model itself, not an approximation: the same integers are stored, compiled and
evaluated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import birthmark_native
from birthmark.data.common.arrays import Bytes, Floats, Ints

LEAF = 2**16 - 1
"""The column of a leaf."""

FULL = 255
"""The greatest score of a leaf."""

EDGE = 0.002
"""Distance from 0 and 1 at which the sigmoid begins: less than that of any cut of levels
(``predictor.fit.levels.GRID``)."""

REFIT_RATE, REFIT_PRIOR, REFIT_PASSES = 1.0, 5.0, 6
"""How ``Forest.refit`` moves leaves: by a pass, as a share of the mean residual; the rows without
residual that a leaf counts in addition; and the number of passes. They were chosen on captured days
(``benchmarks/refresh.py``)."""

SPLIT_BYTES = 8
"""Greatest size of a compiled split; a leaf takes one byte per output."""


@dataclass(frozen=True)
class DecisionPaths:
    """The paths of rows through one tree: the splits, level by level, and each row's leaf.

    A level has the rows that are split there, their nodes, and the nodes that they reach.
    """

    splits: list[tuple[Ints, Ints, Ints]]
    leaves: Ints


@dataclass(frozen=True)
class WeightedTrees:
    """Grown trees, whose means count ``weight`` times.

    Each is cut to at most ``leaves`` (``None``: all), as if growth had stopped there: its best
    splits come first.
    """

    trees: birthmark_native.Trees
    weight: float
    leaves: int | None = None


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees for several outputs at once.

    Nodes are numbered tree by tree, each before its children. A row whose byte in ``column`` is at
    most ``threshold`` goes to the next node, any other to node ``target``. In a leaf ``column`` is
    ``LEAF`` and ``target`` its row of ``scores`` (leaves × outputs, from 0 to ``FULL``); ``rows``
    counts the training rows in a leaf, and is 0 elsewhere. ``roots`` are the first nodes of the
    trees, ``width`` the bytes of a row. The scores of a row's leaves, one in each tree, are added
    up; ``unit`` is the value of 1 in the sum, and ``base`` that of a sum of 0, by output: see
    ``score``.

    Raises ``ValueError`` if these do not form trees.
    """

    column: npt.NDArray[np.uint16]
    threshold: Bytes
    target: npt.NDArray[np.uint32]
    rows: npt.NDArray[np.uint32]
    roots: npt.NDArray[np.uint32]
    scores: Bytes
    width: int
    unit: float
    base: Floats

    def __post_init__(self) -> None:
        if not len(self.roots):
            raise ValueError("a forest without trees")
        if self.base.shape != (self.outputs,):
            raise ValueError(f"a base for {self.outputs} outputs")
        if not (0 < self.unit < np.inf and np.isfinite(self.base).all()):
            raise ValueError("a unit above 0, and a base")
        self._native  # noqa: B018  # raises if the nodes are not trees

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_native"}

    @cached_property
    def _native(self) -> birthmark_native.Forest:
        return birthmark_native.Forest(
            pa.array(self.column),
            pa.array(self.threshold),
            pa.array(self.target),
            pa.array(self.roots),
            pa.array(np.ascontiguousarray(self.scores).ravel()),
            self.outputs,
            self.width,
        )

    @classmethod
    def of(
        cls, parts: Sequence[WeightedTrees], base: Floats, columns: Sequence[int], width: int
    ) -> Forest:
        """Return the trees of ``parts``, whose weighted means add to ``base``.

        They were grown on ``columns`` of rows of ``width`` bytes.
        """
        trees = [_Trees.of(part, columns, len(base)) for part in parts]
        starts = np.cumsum([0, *(len(part.column) for part in trees)])
        column, threshold, target, rows, roots = (
            np.concatenate(arrays)
            for arrays in zip(
                *(
                    (t.column, t.threshold, t.target + start, t.rows, t.roots + start)
                    for t, start in zip(trees, starts, strict=False)
                ),
                strict=True,
            )
        )
        unit = max(float(part.spread.max()) for part in trees) / FULL or 1.0
        steps = [np.rint((part.means - part.least_of_leaf) / unit) for part in trees]
        scores, place = _distinct(np.concatenate(steps).astype(np.uint8))
        target[column == LEAF] = place
        return cls(
            column,
            threshold,
            target.astype(np.uint32),
            rows,
            roots.astype(np.uint32),
            scores,
            width,
            unit,
            base + sum(part.least.sum(axis=0) for part in trees),
        )

    def refit(self, matrix: Bytes, answers: Floats) -> Forest:
        """Return this forest with leaves moved towards ``answers`` (rows × outputs; nan: unknown).

        Splits, ``unit`` and ``base`` stay, so that thresholds of sums keep their meaning.
        """
        own = self._with_leaves_apart()
        known = ~np.isnan(answers.ravel())
        scores = own._native.refit(
            pa.array(np.ascontiguousarray(matrix).ravel()),
            pa.array(answers.ravel() == 1, mask=~known),
            pa.array(self.base.astype(np.float32)),
            self.unit,
            (REFIT_RATE, REFIT_PRIOR, REFIT_PASSES),
        )
        return replace(own, scores=np.asarray(scores).reshape(-1, self.outputs))

    def with_outputs(self, other: Forest, outputs: Sequence[int]) -> Forest:
        """Return this forest with the scores of some outputs from ``other``, a refit of it."""
        own = self._with_leaves_apart()
        scores = own.scores.copy()
        scores[:, outputs] = other.scores[:, outputs]
        distinct, place = _distinct(scores)
        target = own.target.copy()
        target[own.column == LEAF] = place
        return replace(own, scores=distinct, target=target)

    def _with_leaves_apart(self) -> Forest:
        """Return the same forest, with a row of scores for each leaf, in their order."""
        leaf, target = self.column == LEAF, self.target.copy()
        target[leaf] = np.arange(np.count_nonzero(leaf))
        return replace(self, scores=self.scores[self.target[leaf]], target=target)

    @property
    def outputs(self) -> int:
        """The number of scores in a leaf."""
        return int(self.scores.shape[1])

    @property
    def compiled_bytes(self) -> int:
        """Greatest size of the compiled forest, bytes."""
        splits = int(np.count_nonzero(self.column != LEAF))
        return SPLIT_BYTES * splits + self.scores.size

    def predict(self, matrix: Bytes) -> Floats:
        """Return for each row of bytes and each output the score, from 0 to 1."""
        sums = np.asarray(self._native.sums(pa.array(np.ascontiguousarray(matrix).ravel())))
        return self.score(sums.reshape(-1, self.outputs))

    def score(self, sums: npt.NDArray[Any]) -> Floats:
        """Return the scores, from 0 to 1, of ``sums`` of leaves' scores (rows × outputs).

        A score grows with the sum by ``unit``, but by less within ``EDGE`` of 0 and 1, so that
        sums beyond them keep their order.
        """
        return sigmoid(self.base + self.unit * sums)

    @cached_property
    def scores_of_sums(self) -> Floats:
        """The score of each possible sum, from 0 on (sums × outputs)."""
        return self.score(np.arange(FULL * len(self.roots) + 1)[:, None])

    def walk(self, matrix: Bytes) -> Iterator[DecisionPaths]:
        """Yield the paths of all rows of bytes through each tree."""
        for root in self.roots.tolist():
            node, rows, splits = np.full(len(matrix), root), np.arange(len(matrix)), []
            while len(rows := rows[self.column[node[rows]] != LEAF]):
                before = node[rows]
                smaller = matrix[rows, self.column[before]] <= self.threshold[before]
                node[rows] = after = np.where(smaller, before + 1, self.target[before])
                splits.append((rows, before, after))
            yield DecisionPaths(splits, node)

    @cached_property
    def means(self) -> Floats:
        """Mean contribution to a sum by the leaves of the training rows that passed a node.

        Nodes × outputs; 1 is a full score.
        """
        leaf = self.column == LEAF
        end = self._ends()
        weight = self.rows.astype(np.float64)
        score = np.zeros((len(weight), self.outputs))
        score[leaf] = self.unit * self.scores[self.target[leaf]]
        before = np.cumsum(np.vstack([np.zeros(self.outputs), score * weight[:, None]]), axis=0)
        rows = np.cumsum(np.append(0.0, weight))
        through = np.maximum(rows[end] - rows[:-1], 1)
        return np.asarray((before[end] - before[:-1]) / through[:, None])

    def _ends(self) -> Ints:
        """Return for each node the number of the first node after its descendants."""
        end = np.zeros(len(self.column), dtype=np.int64)
        end[self.roots] = np.append(self.roots[1:], len(end))
        targets = self.target.tolist()
        for node in np.flatnonzero(self.column != LEAF).tolist():
            end[node + 1], end[targets[node]] = targets[node], end[node]
        return end


def _distinct(rows: Bytes) -> tuple[Bytes, npt.NDArray[np.int32]]:
    """Return the distinct rows, in the order of first occurrence, and the index of every row."""
    width = rows.shape[1]
    whole = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))]
    )
    encoded: Any = whole.dictionary_encode()
    scores = np.frombuffer(encoded.dictionary.buffers()[1], np.uint8)
    return scores[: len(encoded.dictionary) * width].reshape(-1, width), encoded.indices.to_numpy()


def sigmoid(sums: Floats) -> Floats:
    """Return ``sums`` mapped into 0 to 1, linear between the edges and monotonic beyond.

    It uses only sums, products and quotients, which are bit-identical everywhere.
    """
    over = np.maximum(sums - (1 - EDGE), 0) / EDGE
    under = np.maximum(EDGE - sums, 0) / EDGE
    inside = np.clip(sums, EDGE, 1 - EDGE)
    return np.asarray(inside + EDGE * (over / (1 + over) - under / (1 + under)))


@dataclass(frozen=True)
class _Trees:
    """Trees of one weight in a ``Forest``'s format, with the weighted means of their leaves."""

    column: npt.NDArray[np.uint16]
    threshold: Bytes
    target: npt.NDArray[np.uint32]
    rows: npt.NDArray[np.uint32]
    roots: npt.NDArray[np.uint32]
    means: Floats

    @classmethod
    def of(cls, part: WeightedTrees, columns: Sequence[int], outputs: int) -> _Trees:
        grown, roots, means = part.trees.nodes(part.leaves)
        column, threshold, target, rows = (grown[name].to_numpy() for name in grown.schema.names)
        place = np.append(columns, LEAF)[np.minimum(column, len(columns))]
        weighted = part.weight * means.to_numpy().reshape(-1, outputs).astype(np.float64)
        return cls(place.astype(np.uint16), threshold, target, rows, roots.to_numpy(), weighted)

    @cached_property
    def _first_leaves(self) -> npt.NDArray[np.int64]:
        """The index of each tree's first leaf among the leaves."""
        leaves = np.append(0, np.cumsum(self.column == LEAF))
        return np.asarray(leaves[self.roots])

    @cached_property
    def least(self) -> Floats:
        """The least mean of each tree's leaves, per output."""
        return np.asarray(np.minimum.reduceat(self.means, self._first_leaves))

    @property
    def spread(self) -> Floats:
        """The range of the means of each tree's leaves, per output."""
        return np.asarray(np.maximum.reduceat(self.means, self._first_leaves) - self.least)

    @property
    def least_of_leaf(self) -> Floats:
        """The least mean of the leaves of each leaf's tree."""
        leaves = np.diff(np.append(self._first_leaves, len(self.means)))
        return np.asarray(np.repeat(self.least, leaves, axis=0))
