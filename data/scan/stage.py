"""Rows that wait in a temporary file until a scan has ended."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.scan.merge import Piece, row_groups
from birthmark_native import ScanCounter

ROWS = 65_536
"""Rows counted in memory before they are written: a row group of what comes out."""


class Stage:
    """A table that grows in a temporary file, in a folder of the caller's choice."""

    def __init__(self, schema: pa.Schema, folder: str) -> None:
        self.schema = schema
        self._folder = folder
        self._firsts: list[int] = []

    def __enter__(self) -> Stage:
        self._file = tempfile.TemporaryFile(dir=self._folder)
        self._writer = pq.ParquetWriter(
            pa.PythonFile(self._file, "w"), self.schema, compression="lz4"
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._writer.close()
        except OSError:
            if error is None:
                raise
        finally:
            self._file.close()

    def take(self, counter: ScanCounter, last: bool = False) -> None:
        """Take the rows of the periods that have passed, when there are enough or all have."""
        if counter.rows >= ROWS or last:
            self.add(counter.take())
        if last:
            self._writer.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        if batch.num_rows:
            self._firsts.append(pc.min(batch["time"].cast(pa.int64())).as_py())
            table = pa.Table.from_arrays(batch.columns, schema=self.schema)
            self._writer.write_table(table, row_group_size=batch.num_rows)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows, as often as asked, once all are there."""
        for piece in self.pieces():
            yield from piece.batches()

    def pieces(self) -> list[Piece]:
        """Return the rows in the pieces in which they came."""
        file = pq.ParquetFile(pa.PythonFile(self._file, "r"))
        return row_groups(file, self._firsts)
