"""One hour's dataset while it is written, until all its rows are final.

    OUT/2026-11-21T09/              the dataset of an hour, whole: its tables, its record
     OUT/.hours/2026-11-21T09/       an hour being written, or the remains of a killed follower

An hour has the operations completed and the lives ended in it. The retransmission counters of its
last operations may still change for up to a minute, so it waits that long.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common import durable
from birthmark.data.datasets.tables import TABLES, DatasetWriter
from birthmark.data.follow.counts import difference
from birthmark.data.generated import Mark, in_operations
from birthmark.data.ingest.lives import Rows
from birthmark.data.ingest.loss import Losses
from birthmark.data.ingest.run import BackgroundWriter, set_aside
from birthmark.data.ingest.summary import IngestSummary
from birthmark_native.results import Damaged

WRITTEN = ".hours"


@dataclass
class _Followed:
    """A source, as a summary describes it."""

    path: str
    format: str
    generated: Mark | None
    compression: str = "none"


class Hour:
    """The dataset of one period of traffic, in a directory `out` of such datasets.

    `begins` is the start of the period, in microseconds since the epoch; `before` holds the trace's
    counts until then.
    """

    def __init__(
        self, out: Path, begins: int, before: Mapping[str, Any], pool: ThreadPoolExecutor
    ) -> None:
        self.name, self.begins = free_name(out, begins), begins
        self._place, self._temporary = out / self.name, out / WRITTEN / self.name
        self._before, self._losses = before, Losses()
        self._period: tuple[int, int] | None = None
        self._generated: Mark | None = None
        self.waiting = 0
        """The number of batches that were handed on and are not final yet."""
        self._left = ExitStack()
        self._dataset = self._left.enter_context(DatasetWriter(self._temporary))
        self._writer = BackgroundWriter(self._dataset, pool)

    def expect(self, batches: Iterable[pa.RecordBatch]) -> None:
        """Note operations that were handed on; they come again when they are final."""
        for batch in batches:
            self.waiting += 1
            self._generated = self._generated or in_operations(batch)
            for name in ("time", "reply_time"):
                times = pc.min_max(batch[name].cast(pa.int64())).as_py().values()
                known = [*(self._period or ()), *(time for time in times if time is not None)]
                self._period = (min(known), max(known)) if known else None

    def settle(self, batch: pa.RecordBatch) -> None:
        """Take operations that are final, in the order in which they were handed on."""
        self.waiting -= 1
        self.write([("operations", batch)])

    def write(self, batches: Rows) -> None:
        """Add rows to tables."""
        for table, batch in batches:
            if table == "loss":
                self._losses.add(batch)
        if batches:
            with self._named():
                self._writer.write(batches)

    def set_aside(self, file: str, damaged: list[Damaged]) -> None:
        """Add damaged records of a file."""
        set_aside(self._dataset, file, damaged)

    def publish(self, source: str, format: str, counts: Mapping[str, Any]) -> Path:
        """Rename the dataset into place, with the record of its counts."""
        summary = IngestSummary(str(self._place))
        if counts:  # there are none if only the end came
            own = {**difference(counts, self._before), "period": self._period}
            summary.add(_Followed(source, format, self._generated), own)
        with self._named():
            self._writer.wait()
            summary.loss = self._losses.estimate()
            summary.rows = {table: self._writer.rows[table] for table in TABLES}
            summary.others = self._dataset.places.others()
            self._dataset.write_record(summary.record())
            self._left.close()
            durable.rename(self._temporary, self._place)
        return self._place

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Make errors that name no file, as those of writing Parquet do, name the dataset."""
        try:
            yield
        except OSError as error:
            error.filename = error.filename or str(self._place)
            raise

    def give_up(self, error: BaseException) -> None:
        """Remove what it wrote, as far as possible: `clear` removes the rest."""
        with suppress(OSError):  # the disk may be full, as the first error says
            self._left.__exit__(type(error), error, error.__traceback__)


def free_name(out: Path, begins: int) -> str:
    """Return a free name for a dataset whose period begins at a time, in microseconds.

    The name is the hour, with minutes and seconds if it begins within one. Later datasets of the
    same name get numbers: after a restart, or after a clock was set back.
    """
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=begins)
    name = f"{time:%Y-%m-%dT%H}" if begins % 3_600_000_000 == 0 else f"{time:%Y-%m-%dT%H%M%S}"
    names = (name if number == 1 else f"{name}.{number}" for number in count(1))
    return next(n for n in names if not ((out / n).exists() or (out / WRITTEN / n).exists()))


def clear(out: Path) -> None:
    """Remove unfinished hours of killed followers. Call only while holding the directory lock."""
    durable.remove(out / WRITTEN)
