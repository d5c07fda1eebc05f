"""The log of predictions served: its columns, and how it is read.

    <log>/20261121/053805123456-4711-0.parquet    a day (UTC), then time, process and number

The service writes it (``serving.log``), a file at a time and each whole; an audit reads
it (``training.audit``). Besides the columns of ``PREDICTIONS`` each file has a boolean column
``answer:KEY`` for every predicate that the model answered, and a column ``said:KEY`` of ``yes``,
``no`` or ``unsure`` (not of hints, nor in logs from before there were three answers).
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
"""What a predicate's key has before it in the name of its column."""

SAID = "said:"
"""Likewise of the column of the three answers."""

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
"""One row per file asked about. What was not told is null."""


@dataclass(frozen=True)
class Joining:
    """How rows are joined to lives: `tolerance` in seconds, and which columns must agree."""

    tolerance: float
    matched: Sequence[str]


def log_treatments(schema: pa.Schema) -> dict[str, str]:
    """Return what anonymizing does with each column of a log's file (``data.anonymize``)."""
    told = [each for each in schema if not each.name.startswith((ANSWER, SAID))]
    kept = {name: "keep" for name in schema.names if name.startswith((ANSWER, SAID))}
    return {**treatments(pa.schema(told)), **kept}


@dataclass
class LogFiles:
    """The files of the log at `directory` that may hold rows about a period.

    `damaged` has the reasons, by path, of files that could not be read. `set_aside` counts, by
    path, the rows left out because they tell a time that is not of the years 1 to 9999.
    """

    directory: Path
    damaged: dict[str, str] = field(default_factory=dict)
    set_aside: dict[str, int] = field(default_factory=dict)

    def tables(self, since: datetime, until: datetime) -> Iterator[pa.Table]:
        """Yield the rows created (or, where that was not told, answered) from `since` to `until`.

        Of files without such rows no more than the end is read.
        """
        if not self.directory.is_dir():
            raise FileNotFoundError(f"{self.directory}: expected a log of predictions, found none")
        for path in sorted(self.directory.glob("[0-9]*/[!.]*.parquet")):
            table = self._read(path, since, until)
            if table is not None:
                yield _within(self._possible(path, table), since, until)

    def _possible(self, path: Path, table: pa.Table) -> pa.Table:
        """Return the rows whose times are possible, and count the others."""
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
    """Tell by a file's statistics whether it may have rows from `since` to `until`."""
    spans = [span for name in ("time", "create_time") for span in statistics(about, name)]
    return any(span is None or _overlaps(span, since, until) for span in spans)


def _overlaps(span: pq.Statistics, since: datetime, until: datetime) -> bool:
    try:
        return bool(span.has_min_max and span.min <= until and span.max >= since)
    except OverflowError:  # of a time of no year from 1 to 9999: the rows tell more
        return True


def _possible(times: pa.ChunkedArray) -> pa.ChunkedArray:
    """Tell of each time whether it is of the years 1 to 9999, or not told."""
    micros = times.cast(pa.int64())
    within = pc.and_(pc.greater_equal(micros, FIRST_US), pc.less_equal(micros, LAST_US))
    return pc.fill_null(within, True)


def moments(table: pa.Table) -> pa.ChunkedArray:
    """Return when each row's file was created: as told, else when it was answered."""
    return pc.coalesce(table["create_time"], table["time"])


def _within(table: pa.Table, since: datetime, until: datetime) -> pa.Table:
    at = moments(table)
    return table.filter(pc.and_(pc.greater_equal(at, since), pc.less_equal(at, until)))
