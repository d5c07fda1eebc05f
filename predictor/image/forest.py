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
from birthmark_native import BM_FEATURES_MAX, BM_SECTION_FOREST, BM_TREE_SIZE_MAX, BM_TREES_MAX

SOURCES = ("history", "name", "code", "hour")
"""Where the bytes of a row come from: a byte of the history, a number of the name, the code of a
value, the hour."""

FEATURES, TREES = BM_FEATURES_MAX, BM_TREES_MAX
"""How many features a section has at most, and how many trees a group."""

NEVER = 2**32 - 1
"""A threshold that no sum reaches."""

_TREE_SIZE, _TREE_HEIGHT = BM_TREE_SIZE_MAX, 255
"""A child is a number of 16 bits, of a node or a leaf; a node's height is a byte."""


class Feature(NamedTuple):
    """A byte of a row: which of ``SOURCES``, which of its numbers, and for a code its table."""

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
    """A binary tree whose node 0 is the root.

    A row of which the byte ``feature`` is at most ``threshold`` goes to the first of ``children``
    (nodes × 2), any other to the second. A child is a node, after this one, if it is below the
    number of nodes; the others are leaves, with a row of ``scores`` (leaves × outputs) each.
    """

    feature: Ints
    threshold: Bytes
    children: Ints
    scores: Bytes


@dataclass(frozen=True)
class Group:
    """Trees whose leaves have a score for each key of ``thresholds``, in that order.

    The answer is yes where the sum of a row's scores is at least the threshold; ``NEVER`` is none.
    """

    thresholds: Mapping[str, int]
    trees: Sequence[ByteTree]


@dataclass(frozen=True)
class ForestSection:
    """Groups of trees over the same ``features``; those that no tree uses are left out."""

    features: Sequence[Feature]
    tables: Sequence[CodeTable]
    groups: Sequence[Group]

    kind: ClassVar[int] = BM_SECTION_FOREST

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section; see ``predictor.image.format.Section``."""
        trees = [tree.feature for group in self.groups for tree in group.trees]
        used = np.unique(np.concatenate(trees or [np.zeros(1, np.int64)]))
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
    outputs = [(places[key], threshold) for key, threshold in group.thresholds.items()]
    writer.steps += len(outputs) + len(group.trees) * steps.leaf(len(outputs))
    heights = [_heights(tree) for tree in group.trees]
    highest = [int(own[0]) for own in heights]
    eights = (highest[i : i + steps.ABREAST] for i in range(0, len(highest), steps.ABREAST))
    writer.steps += sum(map(max, eights))
    trees = [_write_tree(writer, *tree, used) for tree in zip(group.trees, heights, strict=True)]
    return len(trees), writer.put_u32(trees), len(outputs), writer.put_u32(outputs)


def _write_tree(writer: Writer, tree: ByteTree, heights: Ints, used: Ints) -> tuple[int, ...]:
    nodes, leaves = len(tree.feature), len(tree.scores)
    if max(nodes, leaves) > _TREE_SIZE:
        raise ValueError(f"a tree of {leaves} leaves: an image has room for {_TREE_SIZE}")
    rows = np.zeros((nodes, 4), dtype="<u2")
    rows[:, 0] = np.searchsorted(used, tree.feature)
    rows[:, 1] = tree.threshold | heights << 8
    rows[:, 2:] = tree.children
    return writer.put(rows.tobytes()), nodes, writer.put(tree.scores.tobytes(), 1), leaves


def _heights(tree: ByteTree) -> Ints:
    """Return the most nodes on a way from each to a leaf."""
    heights = np.zeros(len(tree.feature) + len(tree.scores), dtype=np.int64)
    for _ in range(_TREE_HEIGHT + 1):
        own: Ints = 1 + heights[tree.children].max(axis=1)
        if np.array_equal(own, heights[: len(own)]):
            return own
        heights[: len(own)] = own
    raise ValueError(f"a tree of more than {_TREE_HEIGHT} levels: an image has room for no more")
