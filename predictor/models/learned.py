"""The base class of the models: tables in, yes or no out.

It does not import scikit-learn, which takes a second and half of a service's memory, because
answers and explanations do not need it. ``predictor.models.classifier`` adds its conventions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from birthmark.data.common.arrays import Bools
from birthmark.predictor.answers.operating_points import Scores as Scores

Answers = Bools


class Learned:
    """A model over Arrow tables of create-time columns that answers yes or no.

    Subclasses learn from a table and score one: ``_learn``, ``scores`` and ``_is_yes``.
    """

    def __repr__(self) -> str:
        state = "has learned" if hasattr(self, "classes_") else "nothing learned yet"
        return f"<{type(self).__name__}: {state}>"

    def learn(self, table: pa.Table, positive: Answers) -> Self:
        """Learn from the rows of ``table`` and where the answer is yes, replacing earlier state."""
        self._learn(table, positive)
        return self._prepared(table.column_names)

    def scores(self, table: pa.Table) -> Scores:
        """Return for each row the score of a yes, from 0 to 1."""
        raise NotImplementedError

    def _learn(self, table: pa.Table, positive: Answers) -> None:
        raise NotImplementedError

    def _is_yes(self, scores: Scores) -> Answers:
        raise NotImplementedError

    def _read(self, X: Any) -> pa.Table:
        """Return ``X`` as a table; here it is one."""
        return X

    def _prepared(self, columns: Sequence[str]) -> Self:
        """Set scikit-learn's fitted attributes, for ``columns`` and boolean labels."""
        self.classes_: npt.NDArray[Any] = np.array([False, True])
        self.n_features_in_ = len(columns)
        self.feature_names_in_ = np.array(columns, dtype=object)
        return self
