"""Forests over rows of bytes, as a section of an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from birthmark.data.common.arrays import Bytes, Ints
from birthmark.predictor.image import steps
from birthmark.predictor.image.format import Writer
from birthmark_native import (
    BM_FEATURES_MAX,
    BM_HEIGHT_MAX,
    BM_LEAF,
    BM_SECTION_FOREST,
    BM_TREE_SIZE_MAX,
    BM_TREES_MAX,
)

SOURCES = ("history", "name", "code", "hour")
"""The sources of a row's bytes: a byte of the history, a number of the name, the code of a value,
the hour."""

FEATURES, TREES = BM_FEATURES_MAX, BM_TREES_MAX
"""Greatest number of features in a section, and of trees in a group."""

NEVER = 2**32 - 1
"""A sum of scores that is never reached."""

_TREE_SIZE, _TREE_HEIGHT, _LEAF = BM_TREE_SIZE_MAX, BM_HEIGHT_MAX, BM_LEAF
"""Greatest number of nodes in a tree, and of splits above a leaf; a leaf's threshold."""


class Feature(NamedTuple):
    """A byte of a row: one of ``SOURCES``, the number in it, and for a code its table."""

    source: str
    argument: int = 0
    table: int = 0


@dataclass(frozen=True)
class CodeTable:
    """The ``codes`` of ascending ``values``, of any ``other`` value, and of an ``unknown`` one."""

    values: npt.NDArray[np.uint32]
    codes: Bytes
    other: int
    unknown: int


@dataclass(frozen=True)
class ByteTree:
    """A binary tree: its splits in preorder, from the root on, and its leaves' ``scores``.

    A row whose byte ``feature`` is at most ``threshold`` (below 255) goes to the first of
    ``children`` (splits × 2), any other to the second. A child below the number of splits is a
    later split; the others are leaves, with a row of scores (leaves × columns) each. Without splits
    there is one leaf.
    """

    feature: Ints
    threshold: Bytes
    children: Ints
    scores: Bytes


@dataclass(frozen=True)
class Group:
    """Trees whose leaves have a score for each of ``columns``.

    The score of a predicate is the sum over the trees in its column; ``outputs`` has these by key.
    """

    columns: int
    outputs: Mapping[str, int]
    trees: Sequence[ByteTree]


@dataclass(frozen=True)
class ForestSection:
    """Groups of trees over the same ``features``.

    Unused features are left out; a section keeps at least one.
    """

    features: Sequence[Feature]
    tables: Sequence[CodeTable]
    groups: Sequence[Group]

    kind: ClassVar[int] = BM_SECTION_FOREST

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section; see ``predictor.image.format.Section``."""
        trees = [tree.feature for group in self.groups for tree in group.trees]
        used = np.unique(np.concatenate([np.zeros(0, np.int64), *trees]))
        used = used if len(used) else np.zeros(1, np.int64)  # a section has one feature at least
        if len(used) > FEATURES:
            raise ValueError(f"{len(used)} features: a section of an image has at most {FEATURES}")
        features = [self.features[feature] for feature in used]
        rows = [(SOURCES.index(f.source) | f.argument << 16, f.table) for f in features]
        head = [len(rows), writer.put_u32(rows)]
        coded = [len(self.tables[f.table].values) for f in features if f.source == "code"]
        writer.steps += len(rows) + int(steps.search(coded).sum())
        tables = [_write_table(writer, table) for table in self.tables]
        head += [len(tables), writer.put_u32(tables)]
        groups = [_write_group(writer, group, used, places) for group in self.groups]
        return writer.put_u32([*head, len(groups), writer.put_u32(groups)], 8)


def _write_table(writer: Writer, table: CodeTable) -> tuple[int, ...]:
    if np.any(table.values[1:] <= table.values[:-1]):
        raise ValueError("the values of a table of codes do not ascend")
    values, codes = writer.put_u32(table.values), writer.put(table.codes.tobytes(), 1)
    return values, codes, len(table.values), table.other | table.unknown << 8


def _write_group(
    writer: Writer, group: Group, used: Ints, places: Mapping[str, int]
) -> tuple[int, ...]:
    if len(group.trees) > TREES:
        raise ValueError(f"{len(group.trees)} trees: a group of an image has at most {TREES}")
    outputs = [places[key] | column << 16 for key, column in group.outputs.items()]
    writer.steps += len(outputs) + len(group.trees) * steps.leaf(group.columns)
    heights = [1 + _height(tree) for tree in group.trees]
    eights = (heights[i : i + steps.ABREAST] for i in range(0, len(heights), steps.ABREAST))
    writer.steps += sum(map(max, eights))
    nodes = [_nodes(tree, used) for tree in group.trees]
    sizes = [(len(own), len(tree.scores)) for own, tree in zip(nodes, group.trees, strict=True)]
    firsts = np.cumsum([(0, 0), *sizes], axis=0)
    return (
        len(group.trees),
        writer.put_u32(firsts),
        writer.put_u32(np.concatenate([np.zeros(0, np.int64), *nodes])),
        writer.put(b"".join(tree.scores.tobytes() for tree in group.trees), 1),
        group.columns,
        len(outputs),
        writer.put_u32(outputs),
    )


def _nodes(tree: ByteTree, used: Ints) -> Ints:
    """Return the nodes of a tree, each a number: the root, then the children of each split."""
    splits = len(tree.feature)
    if (most := max(2 * splits + 1, len(tree.scores))) > _TREE_SIZE:
        raise ValueError(f"a tree of {most} nodes or leaves: an image holds {_TREE_SIZE} at most")
    if np.any(tree.threshold == _LEAF):
        raise ValueError(f"a threshold of {_LEAF}, which no byte is above")
    child = np.append(0, tree.children)  # treats the root as a child
    nodes = _LEAF << 8 | (child - splits) << 16
    is_split = child < splits
    own, place = child[is_split], np.flatnonzero(is_split)
    tested = np.searchsorted(used, tree.feature) | tree.threshold.astype(np.int64) << 8
    nodes[is_split] = tested[own] | (1 + 2 * own - place) << 16
    return np.asarray(nodes, dtype=np.int64)


def _height(tree: ByteTree) -> int:
    """Return the greatest number of splits above a leaf."""
    if not len(tree.feature):
        return 0
    heights = np.zeros(len(tree.feature) + len(tree.scores), dtype=np.int64)
    for _ in range(_TREE_HEIGHT + 1):
        own: Ints = 1 + heights[tree.children].max(axis=1)
        if np.array_equal(own, heights[: len(own)]):
            return int(own[0])
        heights[: len(own)] = own
    raise ValueError(f"a tree of more levels than the {_TREE_HEIGHT} that an image holds")
