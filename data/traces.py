"""Traces in: one reader for every format, told from the first bytes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark import _native
from data import generated, row_groups
from data.schema import MESSAGES, OPERATIONS
from data.tallies import Tallies

PARQUET_MAGIC = b"PAR1"
BATCH_ROWS = 32_768

AHEAD_US = 86_400_000_000
"""How far ahead of this host's clock a time may be, in microseconds."""


class DamagedTraceError(ValueError):
    """A Parquet file of operations turned out to be damaged."""


class Damaged(TypedDict):
    """A record that could not be read."""

    offset: int  # where it begins, in decompressed bytes
    line: int | None  # its line, from 1, in text; its row in a table
    length: int  # its length in bytes
    reason: str  # a word for counting
    expected: str  # what was expected there
    bytes: bytes  # its first bytes


class Trace:
    """A trace being read: iterate over it for the operations table, in record batches.

    Rows come in the order in which operations were completed, so roughly by ``reply_time``; a
    call without a reply comes a minute of the trace's time after it was made. A batch may be empty:
    it says that damaged records, or messages that no row is made of, wait to be taken.
    Records whose time cannot be theirs are damaged; ``ValueError`` says at the end that most are
    later than this host's clock.

    Attributes:
        path: the file, ``-`` for standard input.
        format: ``nfsdump``, ``capture`` or ``operations`` (a Parquet file of the table itself).
        compression: ``none``, ``gzip``, ``bzip2``, ``xz`` or ``zstd``.
        generated: the mark of a generated trace (`data.generated`); a capture's once it is read.
        tells_loss: whether :meth:`take_gaps` and :meth:`take_loss` tell what was lost.
    """

    generated: generated.Mark | None = None
    tells_loss = True

    def __init__(self, path: str) -> None:
        self.path = path
        self._native = _native.Trace(path)
        self.format: str = self._native.format
        self.compression: str = self._native.compression
        self.generated = generated.in_comment(self._native.heading)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        while (batch := self._native.next_batch()) is not None:
            self.generated = self.generated or generated.in_operations(batch)
            yield batch

    def take_damaged(self) -> list[Damaged]:
        """Return the records set aside since the last time."""
        return self._native.take_damaged()

    def take_gaps(self) -> list[pa.RecordBatch]:
        """Return the times in which calls were lost that came to light since the last time.

        For :meth:`birthmark._native.LivesBuilder.update_loss`.
        """
        return self._native.take_gaps()

    def take_loss(self) -> list[pa.RecordBatch]:
        """Return the rows of :data:`data.schema.LOSS` that were finished since the last time."""
        return self._native.take_loss()

    def take_messages(self) -> list[pa.RecordBatch]:
        """Return the messages that no row is made of (:data:`data.schema.MESSAGES`), likewise."""
        return [
            pa.RecordBatch.from_arrays(batch.columns, schema=MESSAGES)
            for batch in self._native.take_messages()
        ]

    def counts(self) -> dict[str, Any]:
        """Return what was counted, once the trace has ended: see ``_native.Trace.counts``."""
        return self._native.counts()


class OperationsTrace(Trace):
    """A Parquet file of the operations table, read as a trace.

    Columns that came to the table after the file was written are null. Of what was lost it shows
    calls without a reply, and no more. Rows with times before 1970 or after this host's clock are
    set aside; what those of their neighbours tell was seen to when the table was made.
    """

    tells_loss = False

    def __init__(self, path: str) -> None:
        self.path, self.format, self.compression = path, "operations", "none"
        try:
            self._file = pq.ParquetFile(path, page_checksum_verification=True)
        except (OSError, ValueError, pa.ArrowException) as error:
            raise DamagedTraceError(f"{path}: is damaged: {error}") from error
        self._tallies = Tallies()
        self._latest = time.time_ns() // 1000 + AHEAD_US
        self._rows = self._aside = 0
        self._damaged: list[Damaged] = []
        schema = self._file.schema_arrow
        self.generated = generated.in_metadata(schema)
        for wanted in OPERATIONS:
            index = schema.get_field_index(wanted.name)
            if index < 0 and wanted.nullable:
                continue  # a column younger than the file
            found = schema.field(index).type if index >= 0 else "no such column"
            if found != wanted.type:
                raise ValueError(
                    f"{path}: column {wanted.name}: expected {wanted.type} as in the operations "
                    f"table, found {found}"
                )

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows; raise `DamagedTraceError` where they cannot be read.

        Raises ValueError where most are later than this host's clock.
        """
        batches = row_groups.batches(self._file, BATCH_ROWS, OPERATIONS.names)
        while True:
            try:
                batch = next(batches, None)
            except (OSError, ValueError, pa.ArrowException) as error:
                raise DamagedTraceError(f"{self.path}: is damaged: {error}") from error
            if batch is None:
                break
            whole = self._plausible(_whole(batch))
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
        """Return none: the table does not hold what was not seen."""
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


_ODD = "impossible-time"


def _odd(row: int) -> Damaged:
    expected = "times since 1970, and until a day after this host's clock"
    return Damaged(offset=0, line=row, length=0, reason=_ODD, expected=expected, bytes=b"")


def _whole(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return operations with all columns of the table; those that they lack are null."""
    names = set(batch.schema.names)
    arrays = [
        batch[field.name] if field.name in names else pa.nulls(len(batch), field.type)
        for field in OPERATIONS
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=OPERATIONS)


def open_trace(path: str | Path) -> Trace:
    """Open a trace: nfsdump text, a pcap or pcapng capture, or operations in Parquet.

    Text and captures may be compressed by gzip, bzip2, xz or zstd; ``-`` is standard input.

    Raises:
        OSError: the file cannot be opened.
        ValueError: it is empty, or none of these formats.
    """
    name = str(path)
    if name != "-" and Path(name).is_file():
        with Path(name).open("rb") as file:
            if file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC:
                return OperationsTrace(name)
    return Trace(name)


def marks_of(path: str | Path) -> list[generated.Mark]:
    """Return the marks of a trace or a dataset before it is read.

    Of standard input, or another pipe, there are none: nothing is taken from it before its time.

    Raises:
        OSError: the file cannot be opened.
        ValueError: it is empty, or no trace.
    """
    if Path(path).is_dir():
        return generated.in_dataset(Path(path))
    if str(path) == "-" or not Path(path).is_file():
        return []
    trace = open_trace(path)
    if trace.format == "capture":
        next((batch for batch in trace if batch.num_rows), None)
    return [trace.generated] if trace.generated else []
