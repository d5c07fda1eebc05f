"""Operations from traces, tables and datasets, with only the columns that are needed."""

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
from birthmark.data.traces.operations import check_columns
from birthmark.data.traces.reader import PARQUET_MAGIC, Trace, open_trace

BATCH_ROWS = 131_072
"""Rows read at a time: enough that a batch's own cost does not count, few enough for memory."""


class Source:
    """Operations to be read: iterate over it for record batches with the columns asked for.

    Attributes:
        path: as it was named.
        counts: what a trace held (`data.traces.reader.Trace.counts`), once it was read; of Parquet
            nothing, whose rows all are operations.
        generated: once it was read, the marks of what was generated (`data.generated`).
    """

    def __init__(self, path: str, columns: list[str]) -> None:
        self.path, self._columns = path, columns
        self.counts: dict[str, Any] | None = None
        self.generated: list[Mark] = []

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        if self.path != "-" and Path(self.path).is_dir():
            yield from _dataset(Path(self.path), self._columns)
            self.generated = in_dataset(Path(self.path))
        elif self.path != "-" and _is_parquet(Path(self.path)):
            yield from row_groups.ahead(_parquet(Path(self.path), self._columns))
            self.generated = all_in_metadata(pq.read_schema(self.path))
        else:
            trace = open_trace(self.path)
            for batch in trace:
                _drop_what_ingest_keeps(trace)
                yield batch.select(self._columns)
            self.counts = trace.counts()
            self.generated = [trace.generated] if trace.generated else []


def _drop_what_ingest_keeps(trace: Trace) -> None:
    """Let go of what waits to be taken; it is in the trace's counts."""
    trace.take_damaged()
    trace.take_messages()
    trace.take_gaps()
    trace.take_loss()


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
