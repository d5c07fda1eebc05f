"""Operations from traces, tables and datasets, with only the necessary columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data.datasets import row_groups
from birthmark.data.datasets.ingests import table_files
from birthmark.data.datasets.tables import with_server
from birthmark.data.generated import Mark, all_in_metadata, in_dataset
from birthmark.data.schema import OPERATIONS, filled
from birthmark.data.traces import unread
from birthmark.data.traces.operations import check_columns
from birthmark.data.traces.reader import PARQUET_MAGIC, open_trace

BATCH_ROWS = 131_072
"""Rows read at a time: large enough to amortize a batch's fixed cost, small enough for memory."""


class Source:
    """Operations to read: iterate over it for record batches with the requested columns.

    Attributes:
        path: as the caller named it.
        counts: a trace's counts (`data.traces.reader.Trace.counts`), after reading; empty for
            Parquet, where every row is an operation.
        generated: after reading, the marks of generated data (`data.generated`).
    """

    def __init__(self, path: str, columns: list[str]) -> None:
        self.path, self._columns = path, columns
        self.counts: dict[str, Any] | None = None
        self.generated: list[Mark] = []

    def warnings(self) -> list[str]:
        """Return warnings about unreadable traffic, after reading (`data.traces.unread`)."""
        if self.counts is not None:
            return unread.warnings(self.path, self.counts)
        return unread.of_dataset(Path(self.path)) if self._is_dataset() else []

    def _is_dataset(self) -> bool:
        return self.path != "-" and Path(self.path).is_dir()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self._is_dataset():
            yield from _dataset(Path(self.path), self._columns)
            self.generated = in_dataset(Path(self.path))
        elif self.path != "-" and _is_parquet(Path(self.path)):
            yield from row_groups.ahead(_parquet(Path(self.path), self._columns))
            self.generated = all_in_metadata(pq.read_schema(self.path))
        else:
            trace = open_trace(self.path)
            for batch in trace:
                yield batch.select(self._columns)
            self.counts = trace.counts()
            self.generated = [trace.generated] if trace.generated else []


def _is_parquet(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC


def _parquet(path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(path) as file:
        check_columns(path, file.schema_arrow, columns)
        wanted = pa.schema([OPERATIONS.field(name) for name in columns])
        for batch in row_groups.batches(file, BATCH_ROWS, columns):
            yield filled(batch, wanted)


def _dataset(directory: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Read the operations of a dataset, day by day and server by server."""
    paths = table_files(directory, "operations")
    rest = [name for name in columns if name != "server"]
    for path in sorted(paths, key=lambda path: (path.parent.name, path)):
        for batch in row_groups.ahead(_parquet(path, rest)):
            yield with_server(batch, path)
