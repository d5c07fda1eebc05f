"""Hot places (``predictor.heat.places``) as parts of an image: rules by name, and a tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.features import name_pieces
from birthmark.predictor.heat.places import Places
from birthmark.predictor.image.rules import ImageRule
from birthmark.predictor.image.trees import ATTRIBUTES, ImageTree

_PATH = ("uid", "last", "first", "middle")
"""The attributes that the tree tests, in order: after two it knows owner and suffix."""


def rules_of(key: str, places: Places, bar: float) -> Iterator[ImageRule]:
    """Yield the rules by name alone, and by suffix."""
    names = places.known()["name"].unique().drop_null()
    suffix = name_pieces(names)["last"]
    of_suffix = np.zeros(len(names), dtype=np.bool_)
    if ["suffix"] in places.levels:
        of_suffix = (places.scores(suffix=suffix) >= bar) & suffix.is_valid().to_numpy(False)
        for text in suffix.filter(pa.array(of_suffix)).unique().to_pylist():
            yield ImageRule(key, "last", text, least=1)
    hot = places.scores(suffix=suffix, name=names) >= bar
    for name, yes in zip(
        names.filter(pa.array(hot != of_suffix)).to_pylist(), hot[hot != of_suffix], strict=True
    ):
        yield (
            ImageRule(key, "whole", name, least=1) if yes else ImageRule(key, "whole", name, most=0)
        )


def tree_of(key: str, places: Places, bar: float) -> ImageTree:
    """Return the tree by owner, and by owner and name."""
    known = places.known()
    by_owner = np.zeros(len(known["uid"]), dtype=np.bool_)
    if ["uid"] in places.levels:
        by_owner = places.scores(uid=known["uid"]) >= bar
    by_suffix = by_owner
    if ["uid", "suffix"] in places.levels:
        hot = places.scores(uid=known["uid"], suffix=known["suffix"]) >= bar
        by_suffix = np.where(known["suffix"].is_valid(), hot, by_owner)
    by_name = places.scores(**known) >= bar
    pieces = {"uid": known["uid"], **name_pieces(known["name"])}
    rows = zip(*(pieces[name].to_pylist() for name in _PATH), strict=True)
    nodes = _Nodes()
    for row, named, answers in zip(
        rows,
        known["name"].is_valid().to_pylist(),
        zip(by_owner.tolist(), by_suffix.tolist(), by_name.tolist(), strict=True),
        strict=True,
    ):
        if row[0] is not None:
            owner, suffix, name = answers
            nodes.add(row if named else row[:1], (owner, suffix, suffix, name))
    return nodes.tree(key)


class _Nodes:
    """The nodes of a growing tree: the number of each, by the values that lead to it."""

    def __init__(self) -> None:
        self.places: dict[tuple[Any, ...], int] = {(): 0}
        self.parent, self.depth, self.value, self.answer = [-1], [0], [None], [False]

    def add(self, row: tuple[Any, ...], answers: tuple[bool, ...]) -> None:
        """Add the missing nodes on the path of ``row``, with their answers."""
        for depth, answer in enumerate(answers[: len(row)], start=1):
            path = row[:depth]
            if path not in self.places:
                self.places[path] = len(self.parent)
                self.parent.append(self.places[path[:-1]])
                self.depth.append(depth)
                self.value.append(path[-1])
                self.answer.append(answer)

    def tree(self, key: str) -> ImageTree:
        """Return the tree."""
        depth, parent = np.array(self.depth), np.array(self.parent)
        by_depth = np.array([ATTRIBUTES.index(name) for name in _PATH] + [-1])
        attribute = np.where(np.isin(np.arange(len(parent)), parent), by_depth[depth], -1)
        code = np.full(len(parent), -1)
        values = [
            pa.array([], pa.binary() if n < 3 else pa.uint32()) for n in range(len(ATTRIBUTES))
        ]
        for level, name in enumerate(_PATH, start=1):
            at, place = np.flatnonzero(depth == level), ATTRIBUTES.index(name)
            every = pa.array([self.value[node] for node in at], values[place].type)
            coded = every.dictionary_encode("encode")
            values[place], code[at] = coded.dictionary, coded.indices.to_numpy()
        return ImageTree(key, parent, attribute, code, np.array(self.answer, np.uint8), values)
