"""The attribute-based decision tree (thesis section 6.4, Figures 6.4 to 6.7).

The method is that of ABLE: Mesnier et al., "File classification in self-* storage systems" (ICAC
2004).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa

from birthmark.data.common.setting_errors import check
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.models.able.tree import Tree
from birthmark.predictor.models.learned import Answers, Learned
from birthmark.predictor.parameters import DEFAULTS, Parameters


@dataclass(frozen=True)
class TreePath:
    """The path of a row through the tree, and the training rows on the same path.

    ``steps`` are attributes with their values. ``default`` means that the path ended before a leaf,
    because the next attribute's value was not seen in training after these steps.
    """

    steps: tuple[tuple[str, Any], ...]
    default: bool
    n_true: int
    n: int

    @property
    def answer(self) -> bool:
        """The majority of those training rows; a tie is a no."""
        return 2 * self.n_true > self.n


class AttributeTree(Learned):
    """Predict by the values of attributes, one after the other, in a multiway tree.

    Each node splits on the unused attribute that is most strongly associated with the property
    among the node's own rows, with one child per value (Figure 6.4); association is compared as
    ``predictor.models.able.growth.association`` defines, and the first column wins ties. A node
    whose *purity*, the larger of the shares of yes and no, is at least ``purity`` is not split
    (section 6.4.2): at 1.0 only pure nodes are not split, ``None`` grows the whole tree of Figure
    6.5, and lower values make smaller trees. Rows with a value that was not seen in training end at
    the node where it was missing (Figure 6.7).

    The answer is the majority of the training rows at the node where a row ends; a tie is a no.
    The score is the share of yes among them. All columns of a table count, as categories of any
    type; a missing value is a separate category. ``features.NamePieces`` selects the attributes of
    creates. ``fit`` raises ``ValueError`` for a column of times, which do not repeat.

    After fitting, ``tree_`` is the tree and ``attributes_`` its columns.
    """

    def __init__(self, purity: float | None = DEFAULTS.purity) -> None:
        self.purity = purity

    @classmethod
    def from_tree(cls, tree: Tree, attributes: Sequence[str], **parameters: Any) -> Self:
        """Return the model that has ``tree``, over a table of ``attributes`` and booleans."""
        model = cls(**parameters)._prepared(attributes)
        model.tree_, model.attributes_ = tree, list(attributes)
        return model

    def explain(self, X: Any) -> list[TreePath]:
        """Return the path of each row through the tree."""
        return [self.path(row) for row in self.tree_.rows(self._read(X))]

    def path(self, row: Sequence[Any]) -> TreePath:
        """Return the path of one row, given as the values of ``attributes_``."""
        walked = self.tree_.walk(row)
        nodes = self.tree_.nodes
        attributes = [nodes.attribute[node] for node in walked]
        steps = [(self.attributes_[a], row[a]) for a in attributes[: len(walked) - 1]]
        n_true, n = int(nodes.n_true[walked[-1]]), int(nodes.n[walked[-1]])
        return TreePath(tuple(steps), bool(attributes[-1] >= 0), n_true, n)

    def leaves(self) -> list[TreePath]:
        """Return the paths of the training rows, one to each leaf."""
        nodes, values = self.tree_.nodes, [column.to_pylist() for column in self.tree_.values]
        steps: list[tuple[tuple[str, Any], ...]] = [()]
        for parent, code in zip(nodes.parent[1:], nodes.code[1:], strict=True):
            attribute = nodes.attribute[parent]
            steps.append((*steps[parent], (self.attributes_[attribute], values[attribute][code])))
        return [
            TreePath(steps[leaf], False, int(nodes.n_true[leaf]), int(nodes.n[leaf]))
            for leaf in np.flatnonzero(nodes.attribute < 0)
        ]

    def _learn(self, table: pa.Table, positive: Answers) -> None:
        check(Parameters, purity=self.purity)
        for column in table.schema:
            if pa.types.is_timestamp(column.type):
                raise ValueError(
                    f"column {column.name!r} holds times, which are no categories: expected "
                    "attributes, as features.NamePieces makes them of creates"
                )
        self.tree_ = Tree.grown(table, positive, self.purity)
        self.attributes_ = table.column_names

    def scores(self, table: pa.Table) -> Scores:
        """Return for each row the share of yes at the node where it ends."""
        reached = self.tree_.reach(table)
        nodes = self.tree_.nodes
        return np.asarray(nodes.n_true[reached] / np.maximum(nodes.n[reached], 1))

    def _is_yes(self, scores: Scores) -> Answers:
        return scores > 0.5
