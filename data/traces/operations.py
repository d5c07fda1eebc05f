"""Parquet files of the operations table, read as traces."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data import generated
from birthmark.data.common.durations import DAY
from birthmark.data.datasets import row_groups
from birthmark.data.schema import OPERATIONS, filled
from birthmark.data.traces.reader import BATCH_ROWS, Trace
from birthmark.data.traces.tallies import Tallies
from birthmark_native.results import Damaged

AHEAD_US = DAY
"""How far ahead of this host's clock a time may be, in microseconds."""


class DamagedTraceError(ValueError):
    """A Parquet file of operations turned out to be damaged."""


class RowsTrace(Trace):
    """A trace that holds operations already: what a reader of such a format is a subclass of.

    Of what was lost it shows calls without a reply, and no more. Rows with times before 1970 or
    after this host's clock are set aside.
    """

    tells_loss = False

    def __init__(self, path: str, format: str) -> None:
        self.path, self.format, self.compression = path, format, "none"
        self._tallies = Tallies()
        self._latest = time.time_ns() // 1000 + AHEAD_US
        self._rows = self._aside = 0
        self._damaged: list[Damaged] = []

    def rows(self) -> Iterator[pa.RecordBatch]:
        """Yield the operations, of `data.schema.OPERATIONS`; columns that it lacks are null.

        Raises ValueError where they cannot be read.
        """
        raise NotImplementedError

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows; raise ValueError where most are later than this host's clock."""
        for batch in self.rows():
            whole = self._plausible(filled(batch, OPERATIONS))
            self._tallies.add(whole)
            yield whole
        if 2 * self._aside > self._rows:
            raise ValueError(
                f"{self.path}: {self._aside} of {self._rows} rows have times before 1970 or later"
                " than a day after this host's clock; expected a trace of the past"
            )

    def _plausible(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows whose times are possible; set the others aside."""
        fits = pa.array([True] * len(batch), pa.bool_())
        for name in ("time", "reply_time"):
            ends = pc.min_max(micros := batch[name].cast(pa.int64())).as_py()
            if ends["min"] is not None and (ends["min"] < 0 or ends["max"] > self._latest):
                within = pc.and_(pc.greater_equal(micros, 0), pc.less_equal(micros, self._latest))
                fits = pc.and_(fits, pc.fill_null(within, True))
        odd = pc.indices_nonzero(pc.invert(fits)).to_pylist()
        self._damaged += [_odd(self._rows + row + 1) for row in odd]
        self._rows, self._aside = self._rows + len(batch), self._aside + len(odd)
        return batch.filter(fits) if odd else batch

    def take_damaged(self) -> list[Damaged]:
        """Return the rows set aside since the last time, by their numbers."""
        damaged, self._damaged = self._damaged, []
        return damaged

    def take_gaps(self) -> list[pa.RecordBatch]:
        """Return none: operations do not tell what was not seen."""
        return []

    def take_loss(self) -> list[pa.RecordBatch]:
        """Return none, likewise."""
        return []

    def take_messages(self) -> list[pa.RecordBatch]:
        """Return no messages: the file holds operations."""
        return []

    def counts(self) -> dict[str, Any]:
        """Return what was counted, in the form of a decoded trace's counts."""
        procedures = self._tallies.procedures()
        return self._tallies.counts() | {
            "not_run": {},
            "orphans": {},
            "other_programs": {},
            "damaged": {_ODD: self._aside} if self._aside else {},
            "records": self._aside
            + sum(tally["calls"] + tally["replies"] for tally in procedures.values()),
            "bytes": Path(self.path).stat().st_size,
        }


class OperationsTrace(RowsTrace):
    """A Parquet file of the operations table, read as a trace.

    Columns that came to the table after the file was written are null. What the neighbours of a
    row tell of its time was seen to when the table was made.
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


_ODD = "impossible-time"


def _odd(row: int) -> Damaged:
    expected = "times since 1970, and until a day after this host's clock"
    return Damaged(offset=0, line=row, length=0, reason=_ODD, expected=expected, bytes=b"")


def check_columns(path: str | Path, found: pa.Schema, names: Iterable[str]) -> None:
    """Raise ``ValueError`` where a file lacks one of these columns of the operations table.

    It may lack those that can be null: they came to the table after it was written.
    """
    for wanted in map(OPERATIONS.field, names):
        index = found.get_field_index(wanted.name)
        kind = found.field(index).type if index >= 0 else "no such column"
        if kind != wanted.type and (index >= 0 or not wanted.nullable):
            raise ValueError(
                f"{path}: column {wanted.name}: expected {wanted.type} as in the operations "
                f"table, found {kind}"
            )
