"""Write workloads to files, each with its mark (`data.generated`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from birthmark.data import generated
from birthmark.data.common.durable import output
from birthmark.data.datasets.row_groups import ahead, grouped
from birthmark.data.datasets.tables import parquet_writer
from birthmark.data.schema import OPERATIONS
from birthmark.data.traces.captures import write_capture
from birthmark.research.settings import Format
from birthmark.research.workloads.generate import Workload, generate
from birthmark_native import TextWriter

FORMATS: dict[Format, str] = {"operations": ".parquet", "text": ".txt", "pcap": ".pcap"}
"""The formats of a workload, and their suffixes."""

ROW_GROUP = 131_072
"""Rows of a row group: a writer holds metadata of each until the file is closed."""

Batches = Iterable[pa.RecordBatch]


@dataclass(frozen=True)
class Written:
    """The result of writing: operations, bytes, and seconds."""

    out: str
    format: str
    workload: Workload
    operations: int
    bytes: int
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object; `generated` is the workload."""
        return {
            "out": self.out,
            "format": self.format,
            "generated": self.workload.to_json(),
            "operations": self.operations,
            "bytes": self.bytes,
            "seconds": round(self.seconds, 3),
            "operations_per_second": round(self.operations / self.seconds),
        }


def format_of(path: Path, named: str | None = None) -> str:
    """Return the named format, or else that of the suffix of `path`.

    Raises `ValueError` if neither is known.
    """
    if named is not None:
        if named not in FORMATS:
            raise ValueError(f"format: expected one of {', '.join(FORMATS)}, found {named!r}")
        return named
    for name, suffix in FORMATS.items():
        if path.suffix == suffix:
            return name
    suffixes = ", ".join(FORMATS.values())
    raise ValueError(f"{path}: expected a name that ends in one of {suffixes}, or a format")


def write(
    workload: Workload,
    path: Path,
    form: str | None = None,
    progress: Callable[[float, int], None] | None = None,
) -> Written:
    """Generate a workload into a file, which gets its name only when it is complete.

    `progress` is called with the finished part of the trace, from 0 to 1, and the rows so far.
    Raises `ValueError` for an unknown format, and `OSError` if the file cannot be written.
    """
    form = format_of(path, form)
    began, batches = time.monotonic(), _Counted(workload, progress)
    with output(path) as temporary:
        _WRITERS[form](temporary, workload.to_json(), batches)
        size = temporary.stat().st_size
    seconds = time.monotonic() - began
    return Written(str(path), form, workload, batches.rows, size, seconds)


class _Counted:
    """The batches of a workload, which reports progress as they pass."""

    def __init__(self, workload: Workload, progress: Callable[[float, int], None] | None) -> None:
        self._workload, self._progress = workload, progress
        self.rows = 0

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in generate(self._workload):
            self.rows += batch.num_rows
            if self._progress and batch.num_rows:
                self._progress(_part(self._workload, batch), self.rows)
            yield batch


def _part(workload: Workload, batch: pa.RecordBatch) -> float:
    """Return the part of the trace that is done with this batch, from 0 to 1."""
    start = datetime.fromisoformat(workload.start).replace(tzinfo=UTC)
    now: datetime = batch["reply_time"][batch.num_rows - 1].as_py()
    return (now - start) / timedelta(days=workload.days)


def _write_operations(path: Path, mark: generated.Mark, batches: Batches) -> None:
    """Write a Parquet file, in row groups, while the next rows are generated."""
    schema = OPERATIONS.with_metadata(generated.metadata(mark))
    tables = grouped(schema, batches, ROW_GROUP)
    first = next(tables, schema.empty_table())
    with parquet_writer(path, first) as writer:
        for table in ahead(chain([first], tables)):
            writer.write_table(table, row_group_size=ROW_GROUP)


def _write_text(path: Path, mark: generated.Mark, batches: Batches) -> None:
    """Write nfsdump text, its mark in the first line."""
    writer = TextWriter()
    with path.open("wb") as file:
        file.write(generated.comment(mark) + b"\n")
        for batch in batches:
            file.write(writer.write(batch))
        file.write(writer.finish())


def _write_capture(path: Path, mark: generated.Mark, batches: Batches) -> None:
    """Write a packet capture; its mark is in the calls' machine names, and file data is cut off."""
    write_capture(batches, path, cut_data=True)


_WRITERS: dict[str, Callable[[Path, generated.Mark, Batches], None]] = {
    "operations": _write_operations,
    "text": _write_text,
    "pcap": _write_capture,
}
