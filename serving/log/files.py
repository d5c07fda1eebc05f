"""The files of the prediction log: written, anonymized, rotated and deleted."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data.anonymize import MappingError, open_mapping
from birthmark.data.common.durable import private, replaced
from birthmark.data.prediction_log import DAY, log_treatments

TRIES, WAIT = 20, 0.5
"""Attempts, and the seconds between them, to open a mapping that another process uses."""


class LogWriter:
    """Collects rows in memory until a file is full, or old enough, or has other columns.

    Parameters
    ----------
    directory : of the log; made if need be, for its owner and group alone.
    mapping : the file of the mapping to anonymize rows with; None: they are not.
    rows, seconds : the size and age at which a file is ended.
    days : the retention of files.

    """

    def __init__(
        self, directory: Path, mapping: Path | None, rows: int, seconds: float, days: int
    ) -> None:
        self._directory, self._mapping = directory, mapping
        self._rows, self._seconds, self._days = rows, seconds, days
        self._tables: list[pa.Table] = []
        self._first_time = 0.0
        self._number = 0
        self._written = self._lost = 0

    def add(self, table: pa.Table) -> None:
        """Add rows; raise OSError or ValueError if a file that is due cannot be written."""
        try:
            if self._tables and self._tables[0].schema != table.schema:
                self.end()
        finally:
            if not self._tables:
                self._first_time = time.monotonic()
            self._tables.append(table)
        if sum(map(len, self._tables)) >= self._rows:
            self.end()

    def end_if_old(self) -> None:
        """End the file if it is old enough."""
        if self._tables and time.monotonic() >= self._first_time + self._seconds:
            self.end()

    def end(self) -> None:
        """Write the collected rows as a file; if that fails, count them as lost."""
        tables, self._tables = self._tables, []
        rows = sum(map(len, tables))
        if not rows:
            return
        try:
            self._write(pa.concat_tables(tables).combine_chunks())
        except BaseException:
            self._lost += rows
            raise
        self._written += rows
        self._delete_old()

    def take_counts(self) -> tuple[int, int]:
        """Return how many rows were written, and lost, since the last call."""
        counts = self._written, self._lost
        self._written = self._lost = 0
        return counts

    def _write(self, table: pa.Table) -> None:
        if self._mapping is not None:
            table = _anonymized(table, self._mapping)
        path = self._path(table["time"][0].as_py())
        private(self._directory)
        path.parent.mkdir(exist_ok=True)
        with replaced(path) as partial:
            pq.write_table(table, partial, compression="zstd", write_page_checksum=True)

    def _path(self, first: datetime) -> Path:
        """Return an unused path for the next file, even if the clock went back."""
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
                # Remove the partial files of killed processes, too.
                for path in (*day.glob("*.parquet"), *day.glob(".*.parquet.*.new")):
                    path.unlink(missing_ok=True)
                if not any(day.iterdir()):
                    day.rmdir()


def _days(directory: Path) -> Iterator[Path]:
    """Yield the log's directories of days, and nothing else."""
    for path in sorted(directory.iterdir()):
        if len(path.name) == 8 and path.name.isdigit() and path.is_dir():
            yield path


def _anonymized(table: pa.Table, mapping: Path) -> pa.Table:
    """Return anonymized rows; save the mapping first, so that it has every value in the log."""
    for left in reversed(range(TRIES)):
        try:
            with open_mapping(mapping) as file:
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
