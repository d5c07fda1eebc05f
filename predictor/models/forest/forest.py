"""Forests of binary trees over rows of bytes, with whole numbers for thresholds and scores.

This is the model itself, not an approximation that is kept beside another: what is stored, compiled
and asked is these numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import birthmark_native
from birthmark.data.common.arrays import Bools, Bytes, Floats, Ints

LEAF = 2**16 - 1
"""The column of a leaf."""

FULL = 255
"""The greatest score of a leaf."""

EDGE = 0.002
"""How near to 0 and 1 a sum comes before it is bent, so as not to leave them: nearer than any share
that levels are cut at (``predictor.fit.levels.GRID``)."""

SPLIT_BYTES = 8
"""What a split takes when compiled, at most; a leaf takes one byte per output."""


@dataclass(frozen=True)
class DecisionPath:
    """The way of a row through one tree: the splits, from the root on, and the leaf."""

    splits: tuple[int, ...]
    leaf: int


@dataclass(frozen=True)
class FittedTrees:
    """Fitted trees of scikit-learn's, whose values count ``weight`` times.

    Of each only so many ``leaves`` are taken (``None``: all), as if it had not been grown on: for
    trees that were grown best splits first.
    """

    trees: Sequence[Any]
    weight: float
    leaves: int | None = None


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees for several outputs at once.

    Nodes are numbered tree by tree, each before its children. A row of which the byte in ``column``
    is at most ``threshold`` goes on to the next node, any other to node ``target``. In a leaf
    ``column`` is ``LEAF`` and ``target`` the row of ``scores`` (leaves × outputs, from 0 to
    ``FULL``) that it has; ``rows`` counts the training rows that came to it, and is 0 elsewhere.
    ``roots`` are the first nodes of the trees, ``width`` the bytes of a row. The scores of a row's
    leaves, one in each tree, are added up; ``unit`` is what 1 of the sum is worth, and ``base``
    what a sum of 0 is, by output: see ``score``.

    Raises ``ValueError`` where these make no trees.
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
        self._native  # noqa: B018  # which refuses what is no tree

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
        cls, parts: Sequence[FittedTrees], base: Floats, columns: Sequence[int], width: int
    ) -> Forest:
        """Return the trees of ``parts``, whose weighted values are to be added to ``base``.

        They were grown on ``columns`` of rows of ``width`` bytes.
        """
        trees = [_Tree.of(tree.tree_, columns, part) for part in parts for tree in part.trees]
        sizes = [len(tree.column) for tree in trees]
        roots = np.cumsum([0, *sizes[:-1]])
        column, threshold, rows = (
            np.concatenate([getattr(tree, name) for tree in trees])
            for name in ("column", "threshold", "rows")
        )
        target = np.concatenate([t.right + r for t, r in zip(trees, roots, strict=True)])
        unit = max(float((tree.most - tree.least).max()) for tree in trees) / FULL or 1.0
        values = np.concatenate([(tree.value - tree.least)[tree.leaf] for tree in trees])
        scores, place = np.unique(
            np.rint(values / unit).astype(np.uint8), axis=0, return_inverse=True
        )
        leaf = column == LEAF
        target[leaf] = place.ravel()
        return cls(
            column.astype(np.uint16),
            threshold.astype(np.uint8),
            target.astype(np.uint32),
            (rows * leaf).astype(np.uint32),
            roots.astype(np.uint32),
            scores,
            width,
            unit,
            base + sum(tree.least for tree in trees),
        )

    @property
    def outputs(self) -> int:
        """The number of scores in a leaf."""
        return int(self.scores.shape[1])

    @property
    def compiled_bytes(self) -> int:
        """What the forest takes when compiled, at most."""
        splits = int(np.count_nonzero(self.column != LEAF))
        return SPLIT_BYTES * splits + self.scores.size

    def predict(self, matrix: Bytes) -> Floats:
        """Return for each row of bytes and each output the score, from 0 to 1."""
        sums = np.asarray(self._native.sums(pa.array(np.ascontiguousarray(matrix).ravel())))
        return self.score(sums.reshape(-1, self.outputs))

    def score(self, sums: npt.NDArray[Any]) -> Floats:
        """Return what ``sums`` of leaves' scores (rows × outputs) mean, from 0 to 1.

        It grows with the sum, by ``unit``, but within ``EDGE`` of 0 and 1 by less: a sum beyond
        them is still surer than one that just reaches them.
        """
        return bent(self.base + self.unit * sums)

    def walk(self, row: Bytes) -> Iterator[DecisionPath]:
        """Yield the way of one row through each tree."""
        for root in self.roots.tolist():
            node, splits = root, []
            while self.column[node] != LEAF:
                splits.append(node)
                smaller = row[self.column[node]] <= self.threshold[node]
                node = node + 1 if smaller else int(self.target[node])
            yield DecisionPath(tuple(splits), node)

    @cached_property
    def means(self) -> Floats:
        """What the leaves of the training rows that came through a node add to a sum, on average.

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
        """Return for each node the number of the first behind its descendants."""
        end = np.zeros(len(self.column), dtype=np.int64)
        end[self.roots] = np.append(self.roots[1:], len(end))
        targets = self.target.tolist()
        for node in np.flatnonzero(self.column != LEAF).tolist():
            end[node + 1], end[targets[node]] = targets[node], end[node]
        return end


def bent(sums: Floats) -> Floats:
    """Return ``sums`` bent into 0 to 1: those near and beyond the ends keep their order.

    Only sums, products and quotients, which are the same to the last bit everywhere.
    """
    over = np.maximum(sums - (1 - EDGE), 0) / EDGE
    under = np.maximum(EDGE - sums, 0) / EDGE
    inside = np.clip(sums, EDGE, 1 - EDGE)
    return np.asarray(inside + EDGE * (over / (1 + over) - under / (1 + under)))


@dataclass(frozen=True)
class _Tree:
    """A tree of scikit-learn's, its nodes in the order of ``Forest``."""

    column: Ints
    threshold: Ints
    right: Ints
    rows: Ints
    value: Floats

    @classmethod
    def of(cls, tree: Any, columns: Sequence[int], part: FittedTrees) -> _Tree:
        # Nodes are numbered as they were made: a smaller tree is made of the first of them.
        most = tree.node_count if part.leaves is None else 2 * part.leaves - 1
        nodes = min(tree.node_count, most)
        left, right = (
            np.where(child[:nodes] < nodes, child[:nodes], -1)
            for child in (tree.children_left, tree.children_right)
        )
        order = _preorder(left.tolist(), right.tolist())
        place = np.argsort(order)
        leaf = left[order] < 0
        return cls(
            np.where(leaf, LEAF, np.asarray(columns)[tree.feature[order]]),
            np.where(leaf, 0, np.floor(tree.threshold[order])).astype(np.int64),
            np.where(leaf, 0, place[right[order]]),
            np.rint(tree.weighted_n_node_samples[order]).astype(np.int64),
            part.weight * np.asarray(tree.value[order, :, 0]),
        )

    @property
    def leaf(self) -> Bools:
        return np.asarray(self.column == LEAF)

    @property
    def least(self) -> Floats:
        """The least value of a leaf, per output."""
        return np.asarray(self.value[self.leaf].min(axis=0))

    @property
    def most(self) -> Floats:
        """The greatest value of a leaf, per output."""
        return np.asarray(self.value[self.leaf].max(axis=0))


def _preorder(left: list[int], right: list[int]) -> list[int]:
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if left[node] >= 0:
            waiting += [right[node], left[node]]
    return order
