"""The files of the prediction log: begun, ended whole, anonymized, and deleted in time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data.anonymize import MappingError, opened
from birthmark.data.common.durable import private, replaced
from birthmark.data.prediction_log import DAY, log_treatments

TRIES, WAIT = 20, 0.5
"""How often, and how many seconds apart, a mapping is asked for that another process uses."""


class LogWriter:
    """Collects rows in memory until a file is full, or old enough, or has other columns.

    Parameters
    ----------
    directory : the log's; made if need be, for its owner and group alone.
    mapping : the file of the mapping that rows are anonymized by; None: they are not.
    rows, seconds : a file is ended when it has so many, or is so old.
    days : how many days files are kept.

    """

    def __init__(
        self, directory: Path, mapping: Path | None, rows: int, seconds: float, days: int
    ) -> None:
        self._directory, self._mapping = directory, mapping
        self._rows, self._seconds, self._days = rows, seconds, days
        self._held: list[pa.Table] = []
        self._begun = 0.0
        self._number = 0
        self._written = self._lost = 0

    def add(self, table: pa.Table) -> None:
        """Take rows; raise OSError or ValueError where a file that they end cannot be written."""
        try:
            if self._held and self._held[0].schema != table.schema:
                self.end()
        finally:
            if not self._held:
                self._begun = time.monotonic()
            self._held.append(table)
        if sum(map(len, self._held)) >= self._rows:
            self.end()

    def end_if_old(self) -> None:
        """End the file if it is old enough."""
        if self._held and time.monotonic() >= self._begun + self._seconds:
            self.end()

    def end(self) -> None:
        """Write the rows held as a file; where that fails they are lost, and counted as lost."""
        held, self._held = self._held, []
        rows = sum(map(len, held))
        if not rows:
            return
        try:
            self._write(pa.concat_tables(held).combine_chunks())
        except BaseException:
            self._lost += rows
            raise
        self._written += rows
        self._delete_old()

    def take_counts(self) -> tuple[int, int]:
        """Return how many rows were written, and lost, since this was asked before."""
        counts = self._written, self._lost
        self._written = self._lost = 0
        return counts

    def _write(self, table: pa.Table) -> None:
        if self._mapping is not None:
            table = _anonymized(table, self._mapping)
        path = self._path(table["time"][0].as_py())
        private(self._directory)
        path.parent.mkdir(exist_ok=True)
        with replaced(path) as aside:
            pq.write_table(table, aside, compression="zstd", write_page_checksum=True)

    def _path(self, first: datetime) -> Path:
        """Return the path of the next file: one that none has, even if the clock went back."""
        first = first.astimezone(UTC)
        while True:
            name = f"{first:%H%M%S%f}-{os.getpid()}-{self._number}.parquet"
            self._number += 1
            path = self._directory / first.strftime(DAY) / name
            if not path.exists():
                return path

    def _delete_old(self) -> None:
        oldest = (datetime.now(UTC) - timedelta(days=self._days)).strftime(DAY)
        for day in _days(self._directory):
            if day.name < oldest:
                # What a killed process left unfinished goes with the files.
                for path in (*day.glob("*.parquet"), *day.glob(".*.parquet.*.new")):
                    path.unlink(missing_ok=True)
                if not any(day.iterdir()):
                    day.rmdir()


def _days(directory: Path) -> Iterator[Path]:
    """Yield the log's directories of days, and nothing else that may stand beside them."""
    for path in sorted(directory.iterdir()):
        if len(path.name) == 8 and path.name.isdigit() and path.is_dir():
            yield path


def _anonymized(table: pa.Table, mapping: Path) -> pa.Table:
    """Return rows as the mapping has them; it is saved first, so that it knows all that is out."""
    for left in reversed(range(TRIES)):
        try:
            with opened(mapping) as file:
                column = table.column_names.index("client")
                words = table["client"].dictionary_encode()
                (batch,) = table.set_column(column, "client", words).combine_chunks().to_batches()
                mapped = file.mapping.batch(batch, log_treatments(batch.schema))
                file.save()
                return pa.Table.from_batches([mapped]).cast(table.schema)
        except MappingError as error:
            if not left or "using this mapping" not in str(error):
                raise
            time.sleep(WAIT)
    raise AssertionError("unreachable")
