"""Trees as rows of a table, one row per node, and back."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from birthmark.data.common.arrays import Ints
from birthmark.data.schema import WORD, field
from birthmark.predictor.models.able.growth import Nodes
from birthmark.predictor.models.able.tree import Tree, codes_of

TREES = pa.schema(
    [
        field("predicate", WORD, "the key of the predicate whose tree it is", nullable=False),
        field("parent", pa.int64(), "the parent's row in the tree; the root: -1", nullable=False),
        field("attribute", WORD, "the attribute that the node splits on; a leaf: null"),
        field("text", pa.binary(), "the parent's attribute here, where it is bytes"),
        field("number", pa.int64(), "the parent's attribute here, where it is a number"),
        field("n", pa.int64(), "training rows that came here", nullable=False),
        field("n_true", pa.int64(), "those with the property", nullable=False),
    ]
)
"""Nodes of trees in the order of ``models.able.growth.Nodes``. Null is a value, too."""


def to_table(key: str, tree: Tree, attributes: Mapping[str, pa.DataType]) -> pa.Table:
    """Return ``tree`` over ``attributes`` (binary or int64) as the rows of ``key``."""
    nodes, names = tree.nodes, pa.array(attributes, pa.utf8())
    values = {"text": pa.binary(), "number": pa.int64()}
    edges = _edge_places(tree)
    columns = {
        "predicate": pa.array([key] * len(nodes.n), pa.utf8()).dictionary_encode(),
        "parent": nodes.parent,
        "attribute": names.take(_or_null(nodes.attribute)).dictionary_encode(),
        "n": nodes.n,
        "n_true": nodes.n_true,
    }
    for column, kind in values.items():
        values_of_kind = [v if v.type == kind else pa.nulls(len(v), kind) for v in tree.values]
        columns[column] = pa.concat_arrays(values_of_kind).take(edges)
    return pa.table({name: columns[name] for name in TREES.names}, schema=TREES)


def to_tree(key: str, table: pa.Table, attributes: Mapping[str, pa.DataType]) -> Tree:
    """Return the tree of ``key`` in ``table``; raise ``ValueError`` if its rows are not a tree."""
    rows = table.filter(pc.equal(table["predicate"], key)).combine_chunks()
    parent, n, n_true = (np.asarray(rows[c], dtype=np.int64) for c in ("parent", "n", "n_true"))
    names = pa.array(attributes, pa.utf8())
    attribute = codes_of(rows["attribute"].cast(pa.utf8()), names)
    _check_shape(parent, attribute, rows["attribute"].is_valid())
    if np.any((n_true < 0) | (n_true > n)):
        raise ValueError("n_true is not between 0 and n")
    code, values = np.full(len(rows), -1), []
    split_by = np.append(-1, attribute[parent[1:]])
    for place, kind in enumerate(attributes.values()):
        edges = np.flatnonzero(split_by == place)
        column = rows["text" if pt.is_binary(kind) else "number"].take(edges).combine_chunks()
        distinct = column.unique()
        values.append(distinct.take(pc.array_sort_indices(distinct)))
        code[edges] = codes_of(column, values[-1])
    tree = Tree(Nodes(parent, code, attribute, n, n_true), tuple(values))
    if not tree.is_ordered():
        raise ValueError("the nodes are not in order of parent and value")
    return tree


def _check_shape(parent: Ints, attribute: Ints, is_split: pa.ChunkedArray) -> None:
    if len(parent) == 0 or parent[0] != -1:
        raise ValueError("the root is missing")
    if np.any((parent[1:] < 0) | (parent[1:] >= np.arange(1, len(parent)))):
        raise ValueError("a node does not come after its parent")
    if np.any((attribute >= 0) != np.asarray(is_split)):
        raise ValueError("a node splits on an unknown attribute")
    if np.any(attribute[parent[1:]] < 0):
        raise ValueError("a leaf has children")


def _edge_places(tree: Tree) -> pa.Array:
    """Return for each node the index of its value in all attributes' concatenated values."""
    nodes = tree.nodes
    starts = np.cumsum([0, *(len(values) for values in tree.values)])
    places = starts[nodes.attribute[nodes.parent]] + nodes.code
    places[0] = -1
    return _or_null(places)


def _or_null(places: Ints) -> pa.Array:
    return pa.array(places, mask=places < 0)
