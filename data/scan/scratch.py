"""A table in a temporary file until the end of a scan."""

from __future__ import annotations

import tempfile
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq


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
