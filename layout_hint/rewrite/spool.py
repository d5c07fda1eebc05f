"""Write rows to a Parquet file, one batch of them in memory at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 16_384
"""Rows held in memory, as Python objects, before they are written."""


class Spool:
    """Writes rows, dictionaries by column, to a Parquet file; use it as a context manager."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._rows: list[dict[str, Any]] = []
        self._writer = pq.ParquetWriter(path, schema, compression="zstd")
        self.written = 0

    def __enter__(self) -> Spool:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        try:
            if error is None:
                self._flush()
        finally:
            self._writer.close()

    def add(self, row: dict[str, Any]) -> None:
        """Write a row; columns that it leaves out are null."""
        self._rows.append(row)
        self.written += 1
        if len(self._rows) >= ROWS:
            self._flush()

    def write(self, batch: pa.RecordBatch) -> None:
        """Write rows that already are in columns."""
        self._writer.write_batch(batch)
        self.written += batch.num_rows

    def _flush(self) -> None:
        self._writer.write_batch(pa.RecordBatch.from_pylist(self._rows, schema=self._schema))
        self._rows = []
