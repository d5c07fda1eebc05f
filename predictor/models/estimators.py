"""The models as scikit-learn's classifiers, for who trains, compares or combines them by its tools.

They take DataFrames and arrays besides Arrow tables, and check them; ``clone``, pipelines and
searches work on them. What is learned, and how, say the classes that they are of; what was loaded
or trained in a ``TrainedModel`` becomes one by ``of``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.features.tabular import read_table
from birthmark.predictor.models.able.model import AttributeTree
from birthmark.predictor.models.classifier import BinaryClassifier, classes_of, read_labels
from birthmark.predictor.models.components.counts import TRACE, ComponentCounts, merged
from birthmark.predictor.models.forest.model import SEEN, CreateForest
from birthmark.predictor.models.name.model import NameRules
from birthmark.predictor.models.rules.model import WEIGHTS, RuleList


class CountingModel(ComponentCounts, BinaryClassifier):
    """A classifier of names that can count on.

    Of an array, the first column is the name. Names are bytes, or text, which is taken as UTF-8.
    """

    _columns = ("name",)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from more rows: the model is that of all rows together.

        ``classes`` are the labels that ``y`` may have, where the first call does not show both
        and they are not booleans.
        """
        first = not hasattr(self, "classes_")
        table = read_table(self, X, reset=first, columns=self._columns)
        labels = read_labels(y, len(table))
        if first:
            self.classes_ = classes_of(labels if classes is None else np.asarray(classes))
            self.counts_ = self.counts_schema.empty_table()
        self._change(table, labels, 1)
        return self

    def forget(self, X: Any, y: Any) -> Self:
        """Undo the learning of rows: the model is that of the rows that remain.

        Raises ``ValueError``, and leaves the model as it was, where a name was not learned, or not
        with that label, or not so often.
        """
        table = self._read(X)
        self._change(table, read_labels(y, len(table)), -1)
        return self

    def _change(self, table: pa.Table, labels: npt.NDArray[Any], weight: float) -> None:
        counts = self._learned()
        change = self._count(table, self._positive(labels))
        self._set_counts(merged(counts, change, weight))


class NameModel(NameRules, CountingModel):
    """``NameRules`` as a classifier."""


class RuleModel(RuleList, CountingModel):
    """``RuleList`` as a classifier, which may forget by and by."""

    def age(self, days: float) -> Self:
        """Let ``days`` pass: every row learned so far counts 2^(-``days``/``half_life``) of itself.

        Rows that are learned afterwards count in full, so a nightly ``age(1)`` before
        ``partial_fit`` gives a row of *d* days ago the weight 2^(-*d*/``half_life``). Components of
        less than a millionth of a row are dropped.

        Raises ``ValueError`` for a model without a half-life, or a negative time.
        """
        counts = self._learned()
        kept = [pc.multiply(counts[n], self._weight(days)) for n in ("n_a", "n_m")]
        aged = pa.table([counts["component"], *kept], schema=WEIGHTS)
        self._set_counts(aged.filter(pc.greater(aged["n_a"], TRACE)))
        return self

    def forget(self, X: Any, y: Any, days: float = 0) -> Self:
        """Undo the learning of rows that ``age`` has since made ``days`` older, in all.

        Raises ``ValueError``, and leaves the model as it was, where a name was not learned, or not
        with that label, or counts for less than rows of that age do.
        """
        table = self._read(X)
        weight = self._weight(days) if days else 1.0
        self._change(table, read_labels(y, len(table)), -weight)
        return self

    def _weight(self, days: float) -> float:
        if self.half_life is None:
            raise ValueError("a model without a half_life does not age")
        if not self.half_life > 0:
            raise ValueError(f"half_life must be None or above 0 days, not {self.half_life!r}")
        if not days >= 0:
            raise ValueError(f"days must be 0 or more, not {days!r}")
        return float(2.0 ** (-days / self.half_life))


class AbleTree(AttributeTree, BinaryClassifier):
    """``AttributeTree`` as a classifier."""


class ForestModel(CreateForest, BinaryClassifier):
    """``CreateForest`` as a classifier.

    Of an array, the first column is the name, and nothing else is known.
    """

    _columns = SEEN
