"""Conversion of scikit-learn's ``X`` to an Arrow table.

Estimators here take a pandas DataFrame or an Arrow table with named columns, or a 2-D array (or
nested lists) whose columns have no names. Only the last is copied row by row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.utils.validation import validate_data


def is_named(X: Any) -> bool:
    """Return whether ``X`` is a table whose columns have names."""
    if isinstance(X, pd.DataFrame):
        return all(isinstance(column, str) for column in X.columns)
    return isinstance(X, (pa.Table, pa.RecordBatch))


def read_table(
    estimator: Any, X: Any, *, reset: bool, columns: Sequence[str] | None = None
) -> pa.Table:
    """Return ``X`` as an Arrow table, validated by scikit-learn's conventions.

    ``columns`` are required in a named table, and only they are used; an array keeps all, named
    ``x0``, ``x1``, …. ``reset`` sets the estimator's ``n_features_in_`` and
    ``feature_names_in_``; otherwise they are compared.

    Raises ``ValueError`` for a table of no rows to learn from, a missing column, a wrong number of
    columns, an array that is not 2-D, or a column that mixes kinds of values; ``TypeError`` for
    sparse matrices.
    """
    if reset and is_named(X) and len(X) == 0:
        name = type(estimator).__name__
        raise ValueError(f"Found array with 0 sample(s) while a minimum of 1 is required by {name}")
    if not is_named(X):
        X = validate_data(estimator, X, reset=reset, dtype=None, ensure_all_finite=False)
        return pa.table({f"x{i}": _column(f"x{i}", X[:, i]) for i in range(X.shape[1])})
    if isinstance(X, pa.RecordBatch):
        X = pa.Table.from_batches([X])
    if columns is not None:
        X = _select(X, columns)
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if isinstance(X, pd.DataFrame):
        return pa.table({name: _column(name, X[name]) for name in X.columns})
    return X


def _select(X: Any, columns: Sequence[str]) -> Any:
    present = X.columns if isinstance(X, pd.DataFrame) else X.column_names
    missing = [column for column in columns if column not in present]
    if missing:
        raise ValueError(f"the table has no column {missing[0]!r}: it has {', '.join(present)}")
    return X[list(columns)] if isinstance(X, pd.DataFrame) else X.select(list(columns))


def _column(name: str, values: Any) -> pa.Array:
    if isinstance(values, np.ndarray) and values.dtype.kind in "SU":
        values = values.astype(object)
    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise ValueError(f"column {name!r} mixes kinds of values: {error}") from error
