"""The decision trees of all predicates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa

from birthmark.features import component_text, name_pieces
from birthmark.features.columns import decoded
from birthmark.predictor import parts
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import Section
from birthmark.predictor.image.trees import ATTRIBUTES as IMAGE_ATTRIBUTES
from birthmark.predictor.image.trees import ImageTree, TreesSection
from birthmark.predictor.models import words
from birthmark.predictor.models.able.model import AttributeTree, TreePath
from birthmark.predictor.models.able.table import TREES, to_table, to_tree
from birthmark.predictor.models.model_set import RULES, ModelSet, most_decisive_first

ATTRIBUTES = {name: pa.binary() for name in ("first", "middle", "last")} | {
    name: pa.int64() for name in ("mode", "uid", "gid")
}
"""The attributes of a create in the trees (thesis section 6.4), and the types of their values."""

_FILE = "able.arrow"


class AbleModels(ModelSet[AttributeTree]):
    """One ``AttributeTree`` per predicate, over the pieces of the name, mode, owner and group.

    Stored as one file with a row per node.
    """

    kind = "able"
    model = AttributeTree
    parameters = ("purity",)
    decision = math.nextafter(0.5, 1)  # the majority; a tie is a no
    is_baseline = True

    @staticmethod
    def columns(creates: pa.Table) -> pa.Table:
        """Return the ``ATTRIBUTES`` of ``creates``."""
        pieces = name_pieces(decoded(creates["name"]))
        return pa.table(pieces | {c: creates[c] for c in ATTRIBUTES if c not in pieces})

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return the path through the tree."""
        columns = [column.to_pylist() for column in self.columns(creates).columns]
        return [
            {key: _leaf(model.path(row)) for key, model in self.items()}
            for row in zip(*columns, strict=True)
        ]

    def rules(self, point: Point) -> pa.Table:
        """Return the paths through the trees, each with the answer of its leaf at ``point``."""
        tables = []
        for key, model in self.items():
            threshold = self.point(key).at(point)
            leaves = [] if threshold is None else model.leaves()
            rows = [_as_rule(key, leaf, threshold) for leaf in leaves]
            tables.append(pa.Table.from_pylist(rows, schema=RULES))
        return most_decisive_first(tables)

    @classmethod
    def sections(
        cls, models: Mapping[str, AttributeTree], cuts: Mapping[str, Scores]
    ) -> list[Section]:
        """Return the trees, whose nodes score by the cuts that their share reaches."""
        return [TreesSection([_image_tree(k, model, cuts[k]) for k, model in models.items()])]

    def save(self, directory: parts.Part) -> list[str]:
        """Write the trees."""
        trees = [to_table(key, model.tree_, ATTRIBUTES) for key, model in self.items()]
        parts.write_table(directory / _FILE, pa.concat_tables([TREES.empty_table(), *trees]))
        return [_FILE]

    @classmethod
    def load(
        cls, directory: parts.Part, keys: Iterable[str], parameters: Mapping[str, Any], counts: bool
    ) -> Self:
        """Return the saved trees; they cannot learn more, so ``counts`` has no effect."""
        path = directory / _FILE
        table = parts.read_table(path, TREES)
        models = cls()
        for key in keys:
            try:
                tree = to_tree(key, table, ATTRIBUTES)
            except ValueError as error:
                raise parts.DamagedModelError(path, f"a tree for {key!r}: {error}") from error
            models[key] = AttributeTree.from_tree(tree, list(ATTRIBUTES), **parameters)
        return models


def _image_tree(key: str, model: AttributeTree, cuts: Scores) -> ImageTree:
    if tuple(model.attributes_) != IMAGE_ATTRIBUTES or tuple(ATTRIBUTES) != IMAGE_ATTRIBUTES:
        raise ValueError(f"the tree of {key!r} is over {', '.join(model.attributes_)}")
    nodes = model.tree_.nodes
    shares = nodes.n_true / np.maximum(nodes.n, 1)
    scores = np.searchsorted(cuts, shares, side="right").astype(np.uint8)
    values = model.tree_.values
    return ImageTree(key, nodes.parent, nodes.attribute, nodes.code, scores, values)


def _as_rule(key: str, leaf: TreePath, threshold: float | None) -> dict[str, Any]:
    score, evidence = _leaf(leaf)
    path = [words.attribute(**step) for step in evidence["path"]]
    return {
        "predicate": key,
        "rule": ", ".join(path) or "any file",
        "yes": threshold is not None and score >= threshold,
        "decides": leaf.n,
        "n_m": leaf.n_true,
        "n_a": leaf.n,
    }


def _leaf(path: TreePath) -> tuple[float, dict[str, Any]]:
    steps = [
        {
            "attribute": attribute,
            "value": component_text(value) if isinstance(value, bytes) else value,
        }
        for attribute, value in path.steps
    ]
    evidence = {"path": steps, "default": path.default, "n_true": path.n_true, "n": path.n}
    return path.n_true / max(path.n, 1), evidence
