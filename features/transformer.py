"""A scikit-learn transformer that splits file names into pieces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from birthmark.features.columns import names_of
from birthmark.features.components import PIECES, name_pieces
from birthmark.features.tabular import is_named, read_table


class NamePieces(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # sklearn is untyped
    """Replace the file name by its first, middle and last piece; keep the other attributes.

    These are the attributes of the thesis's decision tree (section 6.4): three pieces of the
    name, permission mode, owner and group, all known at create.

    ``attributes`` are the columns of a named table that are kept besides the name; an array, whose
    first column must be the name, keeps all other columns. An Arrow table becomes an Arrow table, a
    DataFrame a DataFrame, and an array an array of objects, in which a missing piece is ``None``.
    """

    def __init__(self, attributes: Sequence[str] = ("mode", "uid", "gid")) -> None:
        self.attributes = attributes

    def fit(self, X: Any, y: Any = None) -> NamePieces:
        """Learn the names of the columns; nothing else is learned."""
        self._read(X, reset=True)
        return self

    def transform(self, X: Any) -> Any:
        """Return the pieces and the attributes of each row of ``X``."""
        table = self._read(X, reset=False)
        others = {column: table[column] for column in table.column_names[1:]}
        pieces = pa.table(name_pieces(names_of(table)) | others)
        if isinstance(X, pd.DataFrame):
            return _to_pandas(pieces).set_index(X.index)
        if is_named(X):
            return pieces
        return np.column_stack([np.array(c.to_pylist(), dtype=object) for c in pieces.columns])

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the output columns."""
        check_is_fitted(self, "n_features_in_")
        if hasattr(self, "feature_names_in_"):
            others = list(self.attributes)
        else:
            others = [f"x{i}" for i in range(1, self.n_features_in_)]
        return np.array([*PIECES, *others], dtype=object)

    def _read(self, X: Any, *, reset: bool) -> pa.Table:
        return read_table(self, X, reset=reset, columns=("name", *self.attributes))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.transformer_tags.preserves_dtype = []
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = True
        return tags


def _to_pandas(table: pa.Table) -> pd.DataFrame:
    nullable = {pa.uint32(): pd.UInt32Dtype()}
    frame: pd.DataFrame = table.to_pandas(types_mapper=nullable.get)
    return frame
