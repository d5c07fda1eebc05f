"""Forests and their encodings as sections of an image."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from birthmark.data.common.arrays import Floats
from birthmark.features.encoding import CODED, FIRST, NULL, NUMBERS, UNSEEN, Encoding
from birthmark.features.history import HISTORY_BYTES
from birthmark.predictor.image.forest import (
    NEVER,
    ByteTree,
    CodeTable,
    Feature,
    ForestSection,
    Group,
)
from birthmark.predictor.models.forest.forest import LEAF, Forest
from birthmark.predictor.models.forest.model import CreateForest


def sections_of(models: Mapping[str, CreateForest]) -> list[ForestSection]:
    """Return a section for each encoding, with a group for each forest."""
    encodings: dict[bytes, tuple[Encoding, list[Group]]] = {}
    for keys in by_forest(models):
        model = models[keys[0]]
        content = model.encoding_.to_table().combine_chunks().to_pydict()
        _, groups = encodings.setdefault(repr(content).encode(), (model.encoding_, []))
        groups.append(group_of(model.forest_, {key: models[key].output_ for key in keys}))
    return [forest_section(encoding, groups) for encoding, groups in encodings.values()]


def by_forest(models: Mapping[str, CreateForest]) -> Iterable[list[str]]:
    """Return the keys of the models that share each forest, in the order of the first ones."""
    forests: dict[int, list[str]] = {}
    for key, model in models.items():
        forests.setdefault(id(model.forest_), []).append(key)
    return forests.values()


def forest_section(encoding: Encoding, groups: Sequence[Group]) -> ForestSection:
    """Return the section of ``groups`` over rows of ``features.encoding.COLUMNS``."""
    features = [
        *(Feature("history", byte) for byte in range(HISTORY_BYTES)),
        *(Feature("name", number) for number in range(len(NUMBERS))),
        *(Feature("code", place, place) for place in range(len(CODED))),
        Feature("hour"),
    ]
    return ForestSection(features, [_table(encoding, attribute) for attribute in CODED], groups)


def group_of(forest: Forest, outputs: Mapping[str, int]) -> Group:
    """Return the trees of ``forest``, with the scores of only some of its ``outputs``, by key."""
    ends = [*forest.roots[1:].tolist(), len(forest.column)]
    own = sorted(set(outputs.values()))
    trees = [
        _tree(forest, root, end, own) for root, end in zip(forest.roots.tolist(), ends, strict=True)
    ]
    return Group(len(own), {key: own.index(output) for key, output in outputs.items()}, trees)


def _table(encoding: Encoding, attribute: str) -> CodeTable:
    values = encoding.values[attribute].to_numpy()
    order = np.argsort(values)
    return CodeTable(values[order], (order + FIRST).astype(np.uint8), UNSEEN, NULL)


def least_sum(scores: Floats, threshold: float) -> int:
    """Return the first sum whose score reaches ``threshold``; ``NEVER`` if none. Scores ascend."""
    place = int(np.searchsorted(scores, threshold))
    return place if place < len(scores) else NEVER


def _tree(forest: Forest, root: int, end: int, outputs: Sequence[int]) -> ByteTree:
    """Return the nodes from ``root`` to ``end``, with equal leaves merged."""
    column, target = forest.column[root:end], forest.target[root:end].astype(np.int64)
    leaf = column == LEAF
    own = forest.scores[target[leaf]][:, list(outputs)]
    scores, place = np.unique(own, axis=0, return_inverse=True)
    inner = np.flatnonzero(~leaf)
    number = np.cumsum(~leaf) - 1
    number[leaf] = len(inner) + place.ravel()
    children = np.column_stack([number[inner + 1], number[target[inner] - root]])
    threshold = forest.threshold[root:end][inner]
    return ByteTree(column[inner].astype(np.int64), threshold, children, scores)
