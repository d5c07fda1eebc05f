"""A trace that was read to its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa

from birthmark.data.traces.reader import open_trace
from birthmark_native.results import Damaged


class Whole:
    """All that a trace holds: its chunks in one."""

    def __init__(self, path: Path) -> None:
        trace = open_trace(path)
        self.format, self.compression, self.counts = trace.format, trace.compression, trace.counts
        chunks = list(trace.chunks())
        self.operations: list[pa.RecordBatch] = [b for chunk in chunks for b in chunk.operations]
        self.messages: list[pa.RecordBatch] = [b for chunk in chunks for b in chunk.messages]
        self.loss: list[pa.RecordBatch] = [b for chunk in chunks for b in chunk.loss]
        self.gaps: list[pa.RecordBatch] = [b for chunk in chunks for b in chunk.gaps]
        self.damaged: list[Damaged] = [each for chunk in chunks for each in chunk.damaged]

    def rows(self) -> list[dict[str, Any]]:
        """Return the operations."""
        return [row for batch in self.operations for row in batch.to_pylist()]
