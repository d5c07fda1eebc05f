"""Cross-validation by blocks of time, for scikit-learn.

Files are created in bursts, and files of one burst are alike. Random folds put one half of a burst
into training and the other into the test, which leaks. Here each fold is a period.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from sklearn.model_selection import BaseCrossValidator

from birthmark.data.common.arrays import Ints
from birthmark.data.common.durations import SECOND

TIMES = ("time", "born")
"""The columns of times: of creates, and of lives."""


class TimeBlocks(BaseCrossValidator):  # type: ignore[misc]  # sklearn is untyped
    """Split rows into ``n_splits`` blocks of time, of equally many rows; each is the test once.

    Training has the rows more than ``gap`` seconds before or after the test; with ``past_only``
    only those before it, as in use, so that the first block is no test.

    Times are ``groups`` if given (datetimes, or seconds since any instant), else the column
    ``time`` or ``born`` of ``X``, a DataFrame or an Arrow table.
    """

    def __init__(self, n_splits: int = 5, gap: float = 60, past_only: bool = False) -> None:
        if n_splits < 2 or gap < 0:
            raise ValueError(f"expected 2 blocks or more and a gap from 0, not {n_splits}, {gap}")
        self.n_splits = n_splits
        self.gap = gap
        self.past_only = past_only

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return how many tests there are."""
        return self.n_splits - self.past_only

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[Ints, Ints]]:
        """Yield for each test the training rows and the test rows, in the order of ``X``.

        Raises ``ValueError`` if times are missing or unknown, or a test leaves no training rows.
        """
        times = _times(X if groups is None else groups, groups is not None)
        if len(times) < self.n_splits:
            raise ValueError(f"expected {self.n_splits} rows or more, found {len(times)}")
        order = np.argsort(times, kind="stable")
        gap = round(self.gap * SECOND)
        for number, block in enumerate(np.array_split(order, self.n_splits)):
            if self.past_only and number == 0:
                continue
            learned = times < times[block[0]] - gap
            if not self.past_only:
                learned |= times > times[block[-1]] + gap
            if not learned.any():
                raise ValueError(
                    f"test {number + 1} of {self.n_splits}: no row is more than {self.gap:g} s"
                    f" {'before' if self.past_only else 'from'} it: expected a smaller gap, or"
                    " fewer blocks"
                )
            yield np.flatnonzero(learned), np.sort(block)


def _times(rows: Any, given: bool) -> Ints:
    """Return times in microseconds: those ``given``, or a column of ``rows``."""
    if not given:
        names = list(getattr(rows, "column_names", getattr(rows, "columns", ())))
        present = [name for name in TIMES if name in names]
        if not present:
            raise ValueError(f"expected a column {' or '.join(TIMES)}, or groups: the times")
        rows = rows[present[0]]
    values = rows.to_pandas() if isinstance(rows, (pa.Array, pa.ChunkedArray)) else rows
    column = pd.Series(np.asarray(values) if isinstance(values, pd.Index) else values)
    if column.isna().any():
        raise ValueError("expected a time of every row, found rows without one")
    if pd.api.types.is_numeric_dtype(column):
        return np.asarray((column * SECOND).round().astype(np.int64))
    stamps = pd.to_datetime(column, utc=True).dt.tz_localize(None)
    return np.asarray(stamps.astype("datetime64[us]").astype(np.int64))
