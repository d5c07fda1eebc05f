"""Datasets on disk: the tables as Parquet, partitioned by server and day.

A dataset is a directory::

    operations/server=10.0.0.1/day=2026-11-21/0001.parquet
    messages/server=…   files/server=…   names/server=…   loss/server=…
    quarantine/0001.jsonl     the records that could not be read
    ingests/0001.json         what each ingest read, counted and wrote

The day, in UTC, is the time of an operation, a message or a period, a file's birth and an entry's
birth (where it was not seen: the first time it was named). Every ingest adds files under its own
number and touches no others; they appear under their final names only when all of them are
complete.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter, OrderedDict
from datetime import date, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from data.durable import private
from data.schema import FILES, LOSS, MESSAGES, NAMES, OPERATIONS

TABLES = {
    "operations": OPERATIONS,
    "messages": MESSAGES,
    "files": FILES,
    "names": NAMES,
    "loss": LOSS,
}
OPEN_PARTITIONS = 16
ROW_GROUP = 65_536
FILE_ROWS = 64 * ROW_GROUP  # a writer keeps what it knows of every row group until it is closed
DAY_US = 86_400_000_000
SOUGHT = ("time", "client", "op", "status", "born", "died", "first_seen")
PARTITIONING = pa.schema([("server", pa.utf8()), ("day", pa.utf8())])


class _Partition:
    """A Parquet file being written, in row groups of :data:`ROW_GROUP` rows."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._writer: pq.ParquetWriter | None = None
        self._batches: list[pa.RecordBatch] = []
        self._rows = 0
        self.written = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows
        if self._rows >= ROW_GROUP:
            self._flush()

    def close(self) -> None:
        if self._batches:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._batches)
        if self._writer is None:
            self._writer = parquet_writer(self._path, table)
        self._writer.write_table(table, row_group_size=self._rows)
        self.written += self._rows
        self._batches, self._rows = [], 0
        pa.default_memory_pool().release_unused()


def parquet_writer(path: Path, first: pa.Table) -> pq.ParquetWriter:
    """Open a Parquet file that is to hold rows like those of ``first``.

    Columns without a value there are not compressed: most stay so, and setting a compressor up
    for every page of theirs took a tenth of the writing.
    """
    used = [each.name for each in first.schema if first[each.name].null_count < len(first)]
    leaves = [leaf for name in used for leaf in _leaves(name, first.schema.field(name).type)]
    words = [each.name for each in first.schema if pa.types.is_dictionary(each.type)]
    return pq.ParquetWriter(
        path,
        first.schema,
        compression=dict.fromkeys(leaves, "zstd"),
        use_dictionary=words,
        write_statistics=[each for each in SOUGHT if each in first.schema.names],
        write_page_checksum=True,
    )


def _leaves(name: str, kind: pa.DataType) -> list[str]:
    """Return the Parquet columns that a column of lists or structures is made of."""
    if pa.types.is_list(kind):
        return _leaves(f"{name}.list.element", kind.value_type)
    if pa.types.is_struct(kind):
        return [leaf for child in kind for leaf in _leaves(f"{name}.{child.name}", child.type)]
    return [name]


class DatasetWriter:
    """Writes one ingest into a dataset directory, all of it or nothing.

    Use it as a context manager: what was written takes its place when the block ends without an
    exception, and is removed otherwise. ``number`` is what its files are called by; None: the next.
    """

    def __init__(self, directory: Path, number: str | None = None) -> None:
        self.directory = directory
        self.number = number or f"{len(list((directory / 'ingests').glob('*.json'))) + 1:04d}"
        self._staging = directory / f".ingest-{self.number}"
        self._partitions: OrderedDict[Path, _Partition] = OrderedDict()
        self._parts: Counter[Path] = Counter()

    def __enter__(self) -> DatasetWriter:
        shutil.rmtree(self._staging, ignore_errors=True)
        private(self.directory)
        self._staging.mkdir()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            for partition in self._partitions.values():
                partition.close()
            if error is None:
                self._publish()
        finally:
            shutil.rmtree(self._staging, ignore_errors=True)

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Add rows of the table named, each to the partition of its server and day."""
        if batch.num_rows == 0:
            return
        for server, day, part in partitions(batch, _day_time(table, batch)):
            folder = Path(table, f"server={quote(server, safe='')}", f"day={day}")
            self._partition(folder).write(part)

    def write_lines(self, path: str, lines: list[dict[str, Any]]) -> None:
        """Append JSON lines to a file of the dataset."""
        if lines:
            target = self._staging / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)

    def write_json(self, path: str, content: dict[str, Any]) -> None:
        """Write a JSON file of the dataset."""
        target = self._staging / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")

    def _partition(self, folder: Path) -> _Partition:
        partition = self._partitions.get(folder)
        if partition is not None and partition.written >= FILE_ROWS:
            self._partitions.pop(folder).close()
            partition = None
        if partition is None:
            if len(self._partitions) >= OPEN_PARTITIONS:
                self._partitions.popitem(last=False)[1].close()
            self._parts[folder] += 1
            part = self._parts[folder]
            name = self.number if part == 1 else f"{self.number}-{part}"
            partition = _Partition(self._staging / folder / f"{name}.parquet")
            self._partitions[folder] = partition
        self._partitions.move_to_end(folder)
        return partition

    def _publish(self) -> None:
        """Move everything into place, the record of the ingest last."""
        paths = sorted(path for path in self._staging.rglob("*") if path.is_file())
        for path in sorted(paths, key=lambda path: path.parent.name == "ingests"):
            target = self.directory / path.relative_to(self._staging)
            target.parent.mkdir(parents=True, exist_ok=True)
            os.replace(path, target)  # noqa: PTH105 - Path.replace hides that it is atomic


def _day_time(table: str, batch: pa.RecordBatch) -> pa.Array:
    if table in ("operations", "messages", "loss"):
        return batch["time"]
    return pc.coalesce(batch["born"], batch["first_seen"])


def partitions(batch: pa.RecordBatch, times: pa.Array) -> list[tuple[str, str, pa.RecordBatch]]:
    """Split rows by server and day of ``times``; the server's column goes into the path."""
    index = batch.schema.get_field_index("server")
    servers, micros = batch.column(index), times.cast(pa.int64())
    rest = batch.remove_column(index)
    codes, span = pc.min_max(servers.indices).as_py(), pc.min_max(micros).as_py()
    days = range(span["min"] // DAY_US, span["max"] // DAY_US + 1)
    if codes["min"] == codes["max"] and len(days) == 1:
        return [(servers[0].as_py(), _day(days[0]), rest)]
    row_days = pc.floor(pc.divide(micros.cast(pa.float64()), float(DAY_US))).cast(pa.int64())
    keys = pa.table({"server": servers.cast(pa.utf8()), "day": row_days})
    parts = []
    for group in keys.group_by(["server", "day"], use_threads=False).aggregate([]).to_pylist():
        chosen = pc.and_(
            pc.equal(keys["server"], group["server"]), pc.equal(keys["day"], group["day"])
        )
        part = rest.filter(chosen.combine_chunks())
        parts.append((group["server"], _day(group["day"]), part))
    return parts


def _day(days_since_epoch: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=days_since_epoch)).isoformat()


def read_table(directory: Path, table: str, columns: list[str] | None = None) -> pa.Table:
    """Read a table of a dataset (a key of :data:`TABLES`) as its schema has it.

    Raises:
        FileNotFoundError: the directory is no dataset.
        ValueError: a file of the table is damaged; pages are compared with their checksums.
    """
    import pyarrow.dataset as ds  # slow to import, and needed only to read

    schema = TABLES[table]
    folder = Path(directory) / table
    if not folder.is_dir() and not (Path(directory) / "ingests").is_dir():
        raise FileNotFoundError(f"{directory}: no dataset: expected a directory {table}/ in it")
    wanted = pa.schema([schema.field(name) for name in columns]) if columns else schema
    paths = sorted(str(path) for path in folder.rglob("*.parquet"))
    if not paths:
        return wanted.empty_table()
    physical = pa.schema([each for each in schema if each.name != "server"] + list(PARTITIONING))
    hive = ds.HivePartitioning(PARTITIONING, segment_encoding="uri")
    checked = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
    source = ds.dataset(
        paths,
        schema=physical,
        format=ds.ParquetFileFormat(default_fragment_scan_options=checked),
        partitioning=hive,
        partition_base_dir=str(folder),
    )
    try:
        return source.to_table(columns=wanted.names).cast(wanted)
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"{folder}: expected intact Parquet files: {error}") from error


def read_files(directory: Path) -> pa.Table:
    """Read a dataset's files table (:data:`data.schema.FILES`)."""
    return read_table(directory, "files")


def read_names(directory: Path) -> pa.Table:
    """Read a dataset's names table (:data:`data.schema.NAMES`)."""
    return read_table(directory, "names")
