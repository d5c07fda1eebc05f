"""Print a dataset's tables as nfsdump text."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data.datasets import row_groups
from birthmark.data.datasets.ingests import table_files
from birthmark.data.datasets.tables import TABLES, with_server
from birthmark.data.dump.traces import Dump, heading
from birthmark.data.traces.reader import BATCH_ROWS, open_trace
from birthmark_native import TableError, TextWriter

PRINTED = ("operations", "messages")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class TablesDump(Dump):
    """The operations (and messages) of a dataset, or of one Parquet file, in order of time.

    The order holds within a window of 64 MB of lines: a call without a reply stands in the tables a
    minute of the trace after its place.
    """

    def __init__(self, path: str | Path, all_attributes: bool = False) -> None:
        super().__init__(path)
        self._writer = TextWriter(all_attributes)

    def __iter__(self) -> Iterator[bytes]:
        yield heading(self._path)
        for table, batch in _batches(self._path):
            try:
                write = self._writer.write if table == "operations" else self._writer.messages
                lines = write(batch)
            except TableError as error:
                raise ValueError(f"{self._path}: {table}: {error}") from error
            if lines:
                yield lines
        yield self._writer.finish()
        self.left_out = self._writer.left_out


def _batches(path: Path) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield the batches of a Parquet file of operations, or of all tables of a dataset."""
    if not path.is_dir():
        trace = open_trace(path)
        if trace.format != "operations":
            raise ValueError(
                f"{path}: is {trace.format}; expected a dataset, or operations in Parquet"
            )
        for batch in trace:
            yield "operations", batch
        return
    files = [_file(table, each) for table in PRINTED for each in table_files(path, table)]
    for _, table, batch in heapq.merge(*files, key=lambda item: item[0]):
        if batch is not None:
            yield table, batch


def _file(table: str, path: Path) -> Iterator[tuple[int, str, pa.RecordBatch | None]]:
    """Yield a file's earliest time, before the file is opened for reading; then its batches.

    Each comes with the time of its first row, by which those of several files are merged.
    """
    yield _earliest(path), table, None
    file = pq.ParquetFile(path)
    known = set(file.schema_arrow.names)
    columns = [name for name in TABLES[table].names if name in known]
    for batch in row_groups.batches(file, BATCH_ROWS, columns):
        yield batch["time"].cast(pa.int64())[0].as_py(), table, with_server(batch, path)


def _earliest(path: Path) -> int:
    """Return the earliest time in a file, in microseconds, from its statistics."""
    spans = row_groups.statistics(pq.read_metadata(path), "time")
    return min(((span.min - EPOCH) // timedelta(microseconds=1) for span in spans), default=0)
