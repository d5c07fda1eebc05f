"""Incremental models of names by scikit-learn's conventions."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from birthmark.features.tabular import read_table
from birthmark.predictor.models.classifier import BinaryClassifier, classes_of, read_labels
from birthmark.predictor.models.components.counts import ComponentCounts, merged


class CountingModel(ComponentCounts, BinaryClassifier):
    """An incremental classifier of names.

    In an array, the first column is the name. Names are bytes, or text, encoded as UTF-8.
    """

    _columns = ("name",)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from more rows; the result equals that of fitting all rows together.

        ``classes`` are the possible labels of ``y``, needed if they are not booleans and the first
        call does not have both.
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
        """Unlearn rows; the result equals that of fitting the remaining rows.

        Raises ``ValueError``, without a change, if a name was not learned, or not with that label,
        or less often.
        """
        table = self._read(X)
        self._change(table, read_labels(y, len(table)), -1)
        return self

    def _change(self, table: pa.Table, labels: npt.NDArray[Any], weight: float) -> None:
        counts = self._learned()
        change = self._count(table, self._positive(labels))
        self._set_counts(merged(counts, change, weight))
