"""The log of served predictions: its columns, and a reader.

    <log>/20261121/053805123456-4711-0.parquet    a day (UTC), then time, process and number

The service writes it (``serving.log``), one complete file at a time; an audit reads it
(``training.audit``). Besides the columns of ``PREDICTIONS`` each file has a boolean column
``answer:KEY`` for every predicate that the model answered, and a column ``said:KEY`` of ``yes``,
``no`` or ``unsure`` (except for hints, and in logs that predate the three answers).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.anonymize.columns import treatments
from birthmark.data.datasets.row_groups import statistics
from birthmark.data.schema import FIRST_US, LAST_US, TIME
from birthmark.data.schema import field as column

ANSWER = "answer:"
"""The prefix of a predicate's key in the name of its column."""

SAID = "said:"
"""The prefix for the column of the three answers."""

DAY = "%Y%m%d"

PREDICTIONS = pa.schema(
    [
        column("time", TIME, "when it was answered, by the service's clock", nullable=False),
        column("model", pa.utf8(), "the version that answered", nullable=False),
        column("kind", pa.utf8(), "the kind of its models that answered", nullable=False),
        column("point", pa.utf8(), "the threshold: accurate or bounded", nullable=False),
        column("name", pa.binary(), "the name that was asked about", nullable=False),
        column("mode", pa.uint32(), "permission bits"),
        column("uid", pa.uint32(), "creating caller's user"),
        column("gid", pa.uint32(), "creating caller's group"),
        column("client", pa.utf8(), "creating caller's host, as the asker writes it"),
        column("dir_name", pa.binary(), "the directory's own name"),
        column("create_time", TIME, "when it is created, by the asker"),
    ]
)
"""One row per file in a request. Values that the request lacks are null."""


@dataclass(frozen=True)
class Joining:
    """How to join rows to lives: `tolerance` in seconds, and the columns that must agree."""

    tolerance: float
    matched: Sequence[str]


def log_treatments(schema: pa.Schema) -> dict[str, str]:
    """Return the anonymization treatment of each column of a log's file (``data.anonymize``)."""
    described = [each for each in schema if not each.name.startswith((ANSWER, SAID))]
    answers = {name: "keep" for name in schema.names if name.startswith((ANSWER, SAID))}
    return {**treatments(pa.schema(described)), **answers}


@dataclass
class LogFiles:
    """The files of the log at `directory` that may hold rows about a period.

    `damaged` has the errors, by path, of unreadable files. `set_aside` counts, by path, the rows
    with a time outside the years 1 to 9999.
    """

    directory: Path
    damaged: dict[str, str] = field(default_factory=dict)
    set_aside: dict[str, int] = field(default_factory=dict)

    def tables(self, since: datetime, until: datetime) -> Iterator[pa.Table]:
        """Yield the rows created (or, if unknown, answered) from `since` to `until`.

        Only the footer is read of files without such rows.
        """
        if not self.directory.is_dir():
            raise FileNotFoundError(f"{self.directory}: expected a log of predictions, found none")
        for path in sorted(self.directory.glob("[0-9]*/[!.]*.parquet")):
            table = self._read(path, since, until)
            if table is not None:
                yield _within(self._possible(path, table), since, until)

    def _possible(self, path: Path, table: pa.Table) -> pa.Table:
        """Return the rows with possible times, and count the others."""
        fits = pc.and_(*(_possible(table[name]) for name in ("time", "create_time")))
        if odd := len(table) - (pc.sum(fits).as_py() or 0):
            self.set_aside[str(path)] = odd
            return table.filter(fits)
        return table

    def _read(self, path: Path, since: datetime, until: datetime) -> pa.Table | None:
        try:
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                missing = set(PREDICTIONS.names) - set(file.schema_arrow.names)
                if missing:
                    raise ValueError(f"expected a column {min(missing)!r}")
                return file.read() if _may_hold(file.metadata, since, until) else None
        except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
            self.damaged[str(path)] = str(error)
            return None


def _may_hold(about: pq.FileMetaData, since: datetime, until: datetime) -> bool:
    """Return whether, by its statistics, a file may have rows from `since` to `until`."""
    spans = [span for name in ("time", "create_time") for span in statistics(about, name)]
    return any(span is None or _overlaps(span, since, until) for span in spans)


def _overlaps(span: pq.Statistics, since: datetime, until: datetime) -> bool:
    try:
        return bool(span.has_min_max and span.min <= until and span.max >= since)
    except OverflowError:  # a time outside the years 1 to 9999: decide by the rows
        return True


def _possible(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return for each time whether it is null or in the years 1 to 9999."""
    micros = times.cast(pa.int64())
    within = pc.and_(pc.greater_equal(micros, FIRST_US), pc.less_equal(micros, LAST_US))
    return pc.fill_null(within, True)


def moments(table: pa.Table) -> pa.ChunkedArray:
    """Return when each row's file was created, or else when the request was answered."""
    return pc.coalesce(table["create_time"], table["time"])


def _within(table: pa.Table, since: datetime, until: datetime) -> pa.Table:
    at = moments(table)
    return table.filter(pc.and_(pc.greater_equal(at, since), pc.less_equal(at, until)))
