"""Rows in temporary files until the end of a scan."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.scan.merge import Piece, row_groups
from birthmark_native import ScanCounter


class Scratch:
    """A table that is written to a temporary file, in a folder of the caller's choice, then read.

    The file has no name, and disappears at the end of the block.
    """

    def __init__(self, schema: pa.Schema, folder: str) -> None:
        self.schema = schema
        self._folder = folder

    def __enter__(self) -> Self:
        self._file = tempfile.TemporaryFile(dir=self._folder)
        sink = pa.PythonFile(self._file, "w")
        self.writer = pq.ParquetWriter(sink, self.schema, compression="lz4")
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            self.writer.close()
        except OSError:
            if error is None:
                raise
        finally:
            self._file.close()

    def read(self) -> pq.ParquetFile:
        """Open the file for reading, once the writer is closed."""
        return pq.ParquetFile(pa.PythonFile(self._file, "r"))


ROWS = 65_536
"""Rows held in memory before they are written: a row group of the output."""


class Stage(Scratch):
    """The rows of a scan, as they are counted."""

    def __init__(self, schema: pa.Schema, folder: str) -> None:
        super().__init__(schema, folder)
        self._firsts: list[int] = []

    def take(self, counter: ScanCounter, last: bool = False) -> None:
        """Take the rows of finished periods, once there are ``ROWS`` or it is the last time."""
        if counter.rows >= ROWS or last:
            self.add(counter.take())
        if last:
            self.writer.close()

    def add(self, batch: pa.RecordBatch) -> None:
        """Add rows."""
        if batch.num_rows:
            self._firsts.append(pc.min(batch["time"].cast(pa.int64())).as_py())
            table = pa.Table.from_arrays(batch.columns, schema=self.schema)
            self.writer.write_table(table, row_group_size=batch.num_rows)

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, after the last one was added; can be called repeatedly."""
        for piece in self.pieces():
            yield from piece.batches()

    def pieces(self) -> list[Piece]:
        """Return the rows, in a piece for each call of ``add``."""
        return row_groups(self.read(), self._firsts)
