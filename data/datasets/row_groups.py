"""Parquet files read in memory that does not grow with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def batches(
    file: pq.ParquetFile, rows: int, columns: Sequence[str] | None = None, **options: Any
) -> Iterator[pa.RecordBatch]:
    """Yield a file's rows, at most `rows` in a batch, one row group after the other.

    A reader of several row groups keeps some 20 bytes of every row that it has read (measured
    with pyarrow 26); a reader of one is let go with it. ``options`` are those of
    ``ParquetFile.iter_batches``.
    """
    for group in range(file.num_row_groups):
        yield from file.iter_batches(rows, columns=columns, row_groups=[group], **options)
