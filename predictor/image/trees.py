"""Trees that branch by the values of attributes, as a section of an image."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bytes, Ints
from birthmark.predictor.image import steps
from birthmark.predictor.image.dictionary import write_dictionary
from birthmark.predictor.image.format import Writer
from birthmark_native import BM_LEAF, BM_SECTION_TREES

ATTRIBUTES = ("first", "middle", "last", "mode", "uid", "gid")
"""The attributes that trees branch on: pieces of the name (bytes), then numbers of 32 bits."""

_TEXTS = 3
_LEAF = BM_LEAF


@dataclass(frozen=True)
class ImageTree:
    """A tree for one predicate: a row follows its values down, and gets the last node's score.

    Each node has a ``parent`` (before it; the root, 0, has -1), ``attribute`` (the index in
    ``ATTRIBUTES`` that it splits on; a leaf: -1), ``score`` (0 to 255), and ``code``, the index in
    ``values[attribute of the parent]`` of the value that leads to it (the root: -1). Rows with an
    unknown value follow a null value.
    """

    predicate: str
    parent: Ints
    attribute: Ints
    code: Ints
    score: Bytes
    values: Sequence[pa.Array]

    def pruned(self) -> ImageTree:
        """Return the smallest tree of equal scores, without nodes that score as their parent.

        A row whose value is missing gets the score of the node where it was missing.
        """
        inner = self.parent[1:]
        depth = np.zeros(len(self.parent), dtype=np.int64)
        for _ in ATTRIBUTES:
            depth[1:] = depth[inner] + 1
        alike = np.ones(len(self.parent), dtype=np.bool_)
        says_more = np.zeros(len(self.parent), dtype=np.bool_)
        for level in range(len(ATTRIBUTES), 0, -1):
            nodes = np.flatnonzero(depth == level)
            above = self.parent[nodes]
            more = ~alike[nodes] | (self.score[nodes] != self.score[above])
            says_more[nodes] = more
            alike[above[more]] = False
        says_more[0] = True
        place = np.cumsum(says_more) - 1
        parent = np.append(-1, place[inner])[says_more]
        attribute = self.attribute[says_more]
        attribute[np.setdiff1d(np.arange(len(attribute)), parent)] = -1
        code, score = self.code[says_more], self.score[says_more]
        return ImageTree(self.predicate, parent, attribute, code, score, self.values)

    def value_of(self, attribute: int) -> tuple[Ints, pa.Array]:
        """Return the nodes that a value of ``attribute`` leads to, and that value."""
        nodes = np.flatnonzero(np.append(-1, self.attribute[self.parent[1:]]) == attribute)
        return nodes, self.values[attribute].take(pa.array(self.code[nodes]))


@dataclass(frozen=True)
class TreesSection:
    """Trees, one for each predicate that they answer."""

    trees: Sequence[ImageTree]

    kind: ClassVar[int] = BM_SECTION_TREES

    def write(self, writer: Writer, places: Mapping[str, int]) -> int:
        """Add the section; see ``predictor.image.format.Section``."""
        trees = [tree.pruned() for tree in self.trees]
        known = [_known(trees, attribute) for attribute in range(len(ATTRIBUTES))]
        texts = [
            (attribute, text, code)
            for attribute, values in enumerate(known[:_TEXTS])
            for code, text in enumerate(values.to_pylist(), start=1)
        ]
        head = write_dictionary(writer, texts, _TEXTS)
        for numbers in known[_TEXTS:]:
            head += [writer.put_u32(numbers.to_numpy()), len(numbers)]
            writer.steps += int(steps.search(len(numbers)))
        return self._write_nodes(writer, head, trees, known, places)

    def _write_nodes(
        self,
        writer: Writer,
        head: list[int],
        trees: Sequence[ImageTree],
        known: Sequence[pa.Array],
        places: Mapping[str, int],
    ) -> int:
        sizes = [len(tree.parent) for tree in trees]
        roots = np.cumsum([0, *sizes])[: len(trees)]
        edges = [_edges(tree, known) for tree in trees]
        counts = [
            np.bincount(parent, minlength=n) for (parent, _, _), n in zip(edges, sizes, strict=True)
        ]
        firsts = np.cumsum([0, *np.concatenate([np.zeros(0, np.int64), *counts])])
        most = [_steps(tree.parent, count) for tree, count in zip(trees, counts, strict=True)]
        writer.steps += sum(int(own[0]) for own in most)
        scores = [
            np.where(tree.attribute < 0, _LEAF, tree.attribute)
            | tree.score.astype(np.int64) << 8
            | own << 16
            for tree, own in zip(trees, most, strict=True)
        ]
        nodes = np.column_stack([np.concatenate([*scores, [_LEAF]]), firsts])
        rows = [
            np.column_stack([code, child + root])
            for (_, code, child), root in zip(edges, roots, strict=True)
        ]
        pairs = np.concatenate([np.zeros((0, 2), np.int64), *rows])
        at = [writer.put_u32(nodes), len(nodes) - 1, writer.put_u32(pairs), len(pairs)]
        owners = [places[tree.predicate] for tree in trees]
        at += [writer.put_u32(np.column_stack([roots, owners])), len(trees)]
        return writer.put_u32([*head, *at], 8)


def _steps(parent: Ints, edges: Ints) -> Ints:
    """Return the greatest number of steps from each node on."""
    own = 1 + steps.search(edges)
    most = own
    for _ in ATTRIBUTES:
        below = np.zeros(len(parent), dtype=np.int64)
        np.maximum.at(below, parent[1:], most[1:])
        most = own + below
    return most


def _known(trees: Sequence[ImageTree], attribute: int) -> pa.Array:
    """Return the values of ``attribute`` that lead somewhere, in order, without null."""
    kind = pa.binary() if attribute < _TEXTS else pa.uint32()
    values = [tree.value_of(attribute)[1].cast(kind) for tree in trees]
    distinct = pa.chunked_array(values, kind).unique().drop_null()
    return distinct.take(pc.array_sort_indices(distinct))


def _edges(tree: ImageTree, known: Sequence[pa.Array]) -> tuple[Ints, Ints, Ints]:
    """Return parent, code in the image, and child of each edge, by parent and code."""
    code = np.zeros(len(tree.parent), dtype=np.int64)
    for attribute, values in enumerate(known):
        nodes, own = tree.value_of(attribute)
        found = pc.add(pc.index_in(own.cast(values.type), value_set=values), 1)
        code[nodes] = pc.fill_null(found, 0).to_numpy(zero_copy_only=False)
    child = np.arange(1, len(tree.parent))
    order = np.lexsort([code[1:], tree.parent[1:]])
    return tree.parent[1:][order], code[1:][order], child[order]
