"""Creates as rows of numbers, in a pipeline of scikit-learn's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from birthmark.features import CREATES
from birthmark.features.encoding import Encoding
from birthmark.features.tabular import read_table
from birthmark.predictor.models.estimators.set import FEATURES, encoded
from birthmark.predictor.models.forest.model import SEEN


class CreateEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """Turn creates (``features.CREATES``) into the bytes that the forest uses.

    ``X`` is an Arrow table or a DataFrame that has the columns ``name``, ``mode``, ``uid``,
    ``gid``, ``client``, ``time`` and ``history``, as ``features.from_files`` and
    ``TrainedModel.creates`` return them; others are left out. The result is a DataFrame with the
    columns ``FEATURES``. Fitting learns the values that are frequent in training.
    """

    def fit(self, X: Any, y: Any = None) -> CreateEncoder:
        """Learn the codes of values; raise ``ValueError`` for a table without the columns."""
        self.encoding_ = Encoding.learn(self._creates(X, reset=True))
        return self

    def transform(self, X: Any) -> pd.DataFrame:
        """Return a row of numbers, 0 to 255, for each row of ``X``."""
        check_is_fitted(self, "encoding_")
        rows = encoded(self.encoding_, self._creates(X, reset=False))
        return rows.set_index(X.index) if isinstance(X, pd.DataFrame) else rows

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns."""
        return np.array(FEATURES, dtype=object)

    def _creates(self, X: Any, *, reset: bool) -> pa.Table:
        table = read_table(self, X, reset=reset, columns=SEEN)
        kinds = [CREATES.field(name).type for name in SEEN]
        columns = zip(table.columns, kinds, strict=True)
        return pa.table({n: _cast(c, k) for n, (c, k) in zip(SEEN, columns, strict=True)})


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Cast a column to the type that creates have; a DataFrame may have lost the dictionary."""
    if pa.types.is_dictionary(kind) and not pa.types.is_dictionary(column.type):
        return column.cast(kind.value_type).dictionary_encode()
    return column if column.type == kind else column.cast(kind)
