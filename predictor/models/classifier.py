"""Models as scikit-learn's classifiers, so that its tools train, compare and combine them.

They take DataFrames and arrays besides Arrow tables, and validate them; ``clone``, pipelines and
searches work on them. Their base classes define the learning. ``of`` turns a model of a
``TrainedModel`` into a classifier.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite, check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from birthmark.features.tabular import read_table
from birthmark.predictor.answers.operating_points import Scores
from birthmark.predictor.models.learned import Answers, Learned


class BinaryClassifier(ClassifierMixin, BaseEstimator, Learned):  # type: ignore[misc]  # untyped
    """A classifier over a table of create-time columns that answers yes or no.

    ``X`` is a pandas DataFrame or an Arrow table with named columns, or a 2-D array. ``y`` holds
    booleans (callers leave out rows whose label is unknown), or any two labels; the second in
    sorted order means yes. ``classes_`` is always ``[False, True]`` for booleans, even if only one
    of them occurs.

    Subclasses also inherit from a subclass of ``Learned``, which defines the learning.
    """

    _columns: Sequence[str] | None = None
    """The columns of a named table that are used; ``None``: all."""

    @classmethod
    def of(cls, learned: Learned) -> Self:
        """Return a classifier of the same kind with the state of ``learned``."""
        model = cls()
        model.__dict__.update(learned.__dict__)
        return model

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from the rows of ``X`` and their labels, replacing any previous state.

        Raises ``ValueError`` if the two differ in length, ``y`` has nulls or more than two labels,
        or ``X`` is not a table.
        """
        table = read_table(self, X, reset=True, columns=self._columns)
        labels = read_labels(y, len(table))
        self.classes_ = classes_of(labels)
        self._learn(table, self._positive(labels))
        return self

    def predict(self, X: Any) -> Any:
        """Return the predicted label of each row of ``X``."""
        yes = self._is_yes(self.scores(self._read(X)))
        return self.classes_[yes.astype(int)]

    def predict_proba(self, X: Any) -> Scores:
        """Return a score per row and class, in the order of ``classes_``; rows add up to one."""
        scores = self.scores(self._read(X))
        return np.column_stack([1 - scores, scores])[:, : len(self.classes_)]

    def _read(self, X: Any) -> pa.Table:
        check_is_fitted(self, "classes_")
        return read_table(self, X, reset=False, columns=self._columns)

    def _positive(self, labels: npt.NDArray[Any]) -> Answers:
        strange = np.setdiff1d(labels, self.classes_)
        if len(strange):
            raise ValueError(f"label {strange[0]!r} is none of {self.classes_.tolist()}")
        if len(self.classes_) < 2:
            return np.zeros(len(labels), dtype=bool)
        return np.asarray(labels == self.classes_[1])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # the checks' numbers are no names or categories
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def read_labels(y: Any, rows: int) -> npt.NDArray[Any]:
    """Return ``y`` as an array of at most two labels without nulls, one for each of ``rows``."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    if isinstance(y, (pa.Array, pa.ChunkedArray)):
        if y.null_count:
            raise ValueError("y has nulls: leave out the rows whose label is unknown")
        y = y.to_numpy(zero_copy_only=False) if isinstance(y, pa.Array) else y.to_numpy()
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_consistent_length(labels, range(rows))
    if len(labels):
        check_classification_targets(labels)
        kind = type_of_target(labels, input_name="y", raise_unknown=True)
        if kind != "binary":
            message = f"The type of the target is {kind}."
            raise ValueError(f"Only binary classification is supported. {message}")
    return np.asarray(labels)


def classes_of(labels: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the classes of ``labels``, in order."""
    return np.array([False, True]) if labels.dtype == bool else np.unique(labels)
