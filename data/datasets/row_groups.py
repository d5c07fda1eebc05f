"""Rows read and written in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

Item = TypeVar("Item")


def batches(
    file: pq.ParquetFile, rows: int, columns: Sequence[str] | None = None, **options: Any
) -> Iterator[pa.RecordBatch]:
    """Yield a file's rows, at most `rows` in a batch, one row group after the other.

    A reader of several row groups holds some 20 bytes per row that it has read (measured with
    pyarrow 26); a reader of one row group is released with it. ``options`` are those of
    ``ParquetFile.iter_batches``.
    """
    for group in range(file.num_row_groups):
        yield from file.iter_batches(rows, columns=columns, row_groups=[group], **options)


def statistics(about: pq.FileMetaData, column: str) -> list[Any]:
    """Return pyarrow's statistics of a column in each row group; None where there are none."""
    place = [about.schema.column(n).path for n in range(about.num_columns)].index(column)
    groups = map(about.row_group, range(about.num_row_groups))
    return [group.column(place).statistics for group in groups]


def grouped(schema: pa.Schema, batches: Iterable[pa.RecordBatch], least: int) -> Iterator[pa.Table]:
    """Yield rows in tables of at least ``least``, but for the last."""
    waiting: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if batch.num_rows:
            waiting.append(batch)
            rows += batch.num_rows
        if rows >= least:
            yield pa.Table.from_batches(waiting, schema)
            waiting, rows = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting, schema)


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """Prepare the next item in a thread while the last one is used."""
    each = iter(items)
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, each, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, each, None)
            yield item
