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
from birthmark.data.common.arrays import Bytes, Floats, Ints

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
class WeightedTrees:
    """Grown trees, whose means count ``weight`` times.

    Of each at most so many ``leaves`` are taken (``None``: all), as if it had not been grown on:
    its best splits come first.
    """

    trees: birthmark_native.Trees
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
        cls, parts: Sequence[WeightedTrees], base: Floats, columns: Sequence[int], width: int
    ) -> Forest:
        """Return the trees of ``parts``, whose weighted means are to be added to ``base``.

        They were grown on ``columns`` of rows of ``width`` bytes.
        """
        trees = [_Trees.of(part, columns, len(base)) for part in parts]
        starts = np.cumsum([0, *(len(each.column) for each in trees)])
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
        unit = max(float(each.spread.max()) for each in trees) / FULL or 1.0
        steps = [np.rint((each.means - each.least_of_leaf) / unit) for each in trees]
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
            base + sum(each.least.sum(axis=0) for each in trees),
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

    @cached_property
    def scores_of_sums(self) -> Floats:
        """The score that each sum makes, from 0 to the greatest there may be (sums × outputs)."""
        return self.score(np.arange(FULL * len(self.roots) + 1)[:, None])

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


def _distinct(rows: Bytes) -> tuple[Bytes, npt.NDArray[np.int32]]:
    """Return each row once, in the order of the first ones, and the place of every row."""
    width = rows.shape[1]
    whole = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(width), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))]
    )
    found: Any = whole.dictionary_encode()
    scores = np.frombuffer(found.dictionary.buffers()[1], np.uint8)
    return scores[: len(found.dictionary) * width].reshape(-1, width), found.indices.to_numpy()


def bent(sums: Floats) -> Floats:
    """Return ``sums`` bent into 0 to 1: those near and beyond the ends keep their order.

    Only sums, products and quotients, which are the same to the last bit everywhere.
    """
    over = np.maximum(sums - (1 - EDGE), 0) / EDGE
    under = np.maximum(EDGE - sums, 0) / EDGE
    inside = np.clip(sums, EDGE, 1 - EDGE)
    return np.asarray(inside + EDGE * (over / (1 + over) - under / (1 + under)))


@dataclass(frozen=True)
class _Trees:
    """Trees of one weight as a ``Forest`` has them, with the weighted means of their leaves."""

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
        """The place of each tree's first leaf among the leaves."""
        leaves = np.append(0, np.cumsum(self.column == LEAF))
        return np.asarray(leaves[self.roots])

    @cached_property
    def least(self) -> Floats:
        """The least mean of each tree's leaves, per output."""
        return np.asarray(np.minimum.reduceat(self.means, self._first_leaves))

    @property
    def spread(self) -> Floats:
        """How far the means of each tree's leaves lie apart, per output."""
        return np.asarray(np.maximum.reduceat(self.means, self._first_leaves) - self.least)

    @property
    def least_of_leaf(self) -> Floats:
        """The least mean of the leaves of each leaf's tree."""
        leaves = np.diff(np.append(self._first_leaves, len(self.means)))
        return np.asarray(np.repeat(self.least, leaves, axis=0))
