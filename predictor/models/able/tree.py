"""A grown decision tree: its nodes, the values on its edges, and paths through it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from birthmark.data.common.arrays import Bools, Ints
from birthmark.features.columns import decoded
from birthmark.predictor.models.able.growth import Nodes, grow


@dataclass(frozen=True)
class Tree:
    """Nodes, and for each attribute the values that its codes stand for.

    ``values`` are Arrow arrays, sorted, null last; null is a value like any other. They hold only
    the labels of edges.
    """

    nodes: Nodes
    values: tuple[pa.Array, ...]

    @classmethod
    def grown(cls, table: pa.Table, positive: Bools, purity: float | None) -> Tree:
        """Grow a tree over the columns of ``table`` (see ``predictor.models.able.growth.grow``)."""
        columns = [_normal(column) for column in table.columns]
        values = [unique.take(pc.array_sort_indices(unique)) for unique in map(pc.unique, columns)]
        codes = [codes_of(column, known) for column, known in zip(columns, values, strict=True)]
        return cls(grow(codes, positive, purity), tuple(values))._without_unused_values()

    def reach(self, table: pa.Table) -> Ints:
        """Return the node at which each row ends: a leaf, or the last before an unseen value."""
        columns = zip(table.column_names, table.columns, self.values, strict=True)
        codes = [codes_of(_like(name, column, values), values) for name, column, values in columns]
        matrix = np.column_stack(codes) if codes else np.empty((len(table), 0), dtype=np.int64)
        node = np.zeros(len(table), dtype=np.int64)
        going = np.arange(len(table))
        while len(going := going[self.nodes.attribute[node[going]] >= 0]):
            code = matrix[going, self.nodes.attribute[node[going]]]
            key = node[going] * self._stride + code
            edge = np.searchsorted(self._edges, key)
            known = self._edges[np.minimum(edge, len(self._edges) - 1)] == key
            going = going[known]
            node[going] = edge[known] + 1
        return node

    def walk(self, row: Sequence[Any]) -> list[int]:
        """Return the nodes that one row passes, from the root to where it ends."""
        nodes = [0]
        while (attribute := self._attributes[nodes[-1]]) >= 0:
            child = self._children.get((nodes[-1], row[attribute]))
            if child is None:
                break
            nodes.append(child)
        return nodes

    def rows(self, table: pa.Table) -> list[tuple[Any, ...]]:
        """Return the rows of ``table`` as ``walk`` takes them."""
        columns = zip(table.column_names, table.columns, self.values, strict=True)
        lists = [_like(name, column, values).to_pylist() for name, column, values in columns]
        return list(zip(*lists, strict=True)) if lists else [()] * len(table)

    def is_ordered(self) -> bool:
        """Return whether the nodes stand in the order that ``Nodes`` asks for."""
        return bool(np.all(np.diff(self._edges) > 0))

    @property
    def _stride(self) -> int:
        return 1 + max((len(values) for values in self.values), default=0)

    @cached_property
    def _edges(self) -> Ints:
        """One number per edge, ascending: edge *i* leads to node *i* + 1 (see ``Nodes``)."""
        return self.nodes.parent[1:] * self._stride + self.nodes.code[1:]

    @cached_property
    def _attributes(self) -> list[int]:
        return list(map(int, self.nodes.attribute))

    @cached_property
    def _children(self) -> dict[tuple[int, Any], int]:
        values = [known.to_pylist() for known in self.values]
        edges = zip(self.nodes.parent[1:].tolist(), self.nodes.code[1:].tolist(), strict=True)
        return {
            (parent, values[self._attributes[parent]][code]): child
            for child, (parent, code) in enumerate(edges, start=1)
        }

    def _without_unused_values(self) -> Tree:
        code = self.nodes.code.copy()
        split_by = self.nodes.attribute[self.nodes.parent]
        split_by[0] = -1
        used_values = []
        for attribute, values in enumerate(self.values):
            edges = split_by == attribute
            used, code[edges] = np.unique(code[edges], return_inverse=True)
            used_values.append(values.take(pa.array(used)))
        return Tree(replace(self.nodes, code=code), tuple(used_values))


def _normal(column: pa.ChunkedArray) -> pa.Array:
    """Return ``column`` in the widest type of its kind, independent of its container."""
    column = decoded(column)
    if pt.is_integer(column.type):
        return column.cast(pa.int64())
    if pt.is_floating(column.type):
        return column.cast(pa.float64())
    if pt.is_large_string(column.type):
        return column.cast(pa.utf8())
    return column


def _like(name: str, column: pa.ChunkedArray, values: pa.Array) -> pa.Array:
    """Return ``column`` in the type of its learned values."""
    normal = _normal(column)
    if pt.is_null(values.type):
        return normal
    try:
        return normal.cast(values.type)
    except pa.ArrowException as error:
        raise ValueError(f"column {name!r} must hold {values.type}: {error}") from error


def codes_of(column: pa.Array | pa.ChunkedArray, values: pa.Array) -> Ints:
    """Return the index of each row's value in ``values``; -1 if it is missing there."""
    known = values.cast(column.type) if pt.is_null(values.type) else values
    codes = pc.fill_null(pc.index_in(column, value_set=known), -1)
    return np.asarray(codes, dtype=np.int64)
