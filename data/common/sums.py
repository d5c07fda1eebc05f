"""Sums of rows."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc


def summed(rows: pa.Table, keys: Sequence[str], columns: Sequence[str]) -> pa.Table:
    """Return the sums of ``columns`` for each value of ``keys``, in the order of the rows.

    Without keys the result is one row, even for no rows.
    """
    of_none = pc.ScalarAggregateOptions(min_count=0)  # the sum is 0
    groups = rows.group_by([*keys], use_threads=False)
    sums = groups.aggregate([(column, "sum", of_none) for column in columns])
    return sums.rename_columns([*keys, *columns])
