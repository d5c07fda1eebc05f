"""Parquet files of the operations table, read as traces."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data import generated
from birthmark.data.datasets import row_groups
from birthmark.data.schema import OPERATIONS, filled
from birthmark.data.traces.reader import BATCH_ROWS, Chunk, Trace
from birthmark.data.traces.tallies import Tallies
from birthmark_native import Instants
from birthmark_native.results import Damaged


class DamagedTraceError(ValueError):
    """A Parquet file of operations turned out to be damaged."""


class RowsTrace(Trace):
    """The base class of readers whose traces hold operations already.

    It shows only calls without a reply as lost. Rows with impossible times are set aside, by the
    rule for text and captures (``native/trace/src/instants.rs``).
    """

    tells_loss = False

    def __init__(self, path: str, format: str) -> None:
        self.path, self.format, self.compression = path, format, "none"
        self._tallies = Tallies()
        self._instants = Instants(time.time_ns() // 1000)
        self._pending: list[pa.RecordBatch] = []
        self._rows = 0
        self._odd: set[int] = set()
        self._reasons: Counter[str] = Counter()

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield the operations, of `data.schema.OPERATIONS`; missing columns are null.

        Raises ValueError where they cannot be read.
        """
        raise NotImplementedError

    def chunks(self) -> Iterator[Chunk]:
        """Yield the rows; raise ValueError if most have impossible times."""
        for batch in self.rows():
            whole = filled(batch, OPERATIONS)
            self._pending.append(whole)
            times = (whole[name].cast(pa.int64()) for name in ("time", "reply_time"))
            yield from self._plausible(*self._instants.judge(*times))
        yield from self._plausible(*self._instants.finish())
        odd = self._reasons.total() - self._reasons["odd-time"]
        if 2 * odd > self._rows:
            raise ValueError(
                f"{self.path}: {odd} of {self._rows} rows have times before 1970 or later"
                " than a day after this host's clock; expected a trace of the past"
            )

    def _plausible(self, until: int, odd: list[tuple[int, str, str]]) -> Iterator[Chunk]:
        """Yield those set aside by their numbers, and the other rows up to `until`."""
        self._odd.update(row for row, _, _ in odd)
        self._reasons.update(reason for _, reason, _ in odd)
        if odd:
            yield Chunk(damaged=[_damaged(row + 1, *why) for row, *why in odd])
        while self._pending and self._rows < until:
            batch = self._pending.pop(0)
            if len(batch) > until - self._rows:
                self._pending.insert(0, batch.slice(until - self._rows))
                batch = batch.slice(0, until - self._rows)
            whole = self._without_odd(batch)
            self._rows += len(batch)
            self._tallies.add(whole)
            if len(whole):
                yield Chunk([whole])

    def _without_odd(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the next rows without those that are set aside."""
        rows = range(self._rows, self._rows + len(batch))
        odd = {row for row in self._odd if row in rows}
        if not odd:
            return batch
        self._odd -= odd
        return batch.filter(pa.array([row not in odd for row in rows], pa.bool_()))

    def counts(self) -> dict[str, Any]:
        """Return the counts, in the form of a decoded trace's counts."""
        procedures = self._tallies.procedures()
        return self._tallies.counts() | {
            "not_run": {},
            "orphans": {},
            "other_programs": {},
            "damaged": dict(self._reasons),
            "records": self._reasons.total()
            + sum(tally["calls"] + tally["replies"] for tally in procedures.values()),
            "bytes": Path(self.path).stat().st_size,
        }


class OperationsTrace(RowsTrace):
    """A Parquet file of the operations table, read as a trace.

    Columns that are newer than the file are null.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, "operations")
        try:
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedTraceError(f"{path}: is damaged: {error}") from error
        schema = self._file.schema_arrow
        self.generated = generated.in_metadata(schema)
        check_columns(path, schema, OPERATIONS.names)

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows; raise `DamagedTraceError` where they cannot be read."""
        try:
            yield from row_groups.batches(self._file, BATCH_ROWS, OPERATIONS.names)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedTraceError(f"{self.path}: is damaged: {error}") from error


def _damaged(row: int, reason: str, expected: str) -> Damaged:
    return Damaged(offset=0, line=row, length=0, reason=reason, expected=expected, bytes=b"")


def check_columns(path: str | Path, found: pa.Schema, names: Iterable[str]) -> None:
    """Raise ``ValueError`` if a file lacks one of these columns of the operations table.

    It may lack nullable columns: they may be newer than the file.
    """
    for wanted in map(OPERATIONS.field, names):
        index = found.get_field_index(wanted.name)
        kind = found.field(index).type if index >= 0 else "no such column"
        if kind != wanted.type and (index >= 0 or not wanted.nullable):
            raise ValueError(
                f"{path}: column {wanted.name}: expected {wanted.type} as in the operations "
                f"table, found {kind}"
            )
