"""Datasets on disk: the tables as Parquet, partitioned by server and day.

A dataset is a directory::

    operations/server=10.0.0.1/day=2026-11-21/0001.parquet
    messages/server=…   files/server=…   names/server=…   loss/server=…
    quarantine/0001.jsonl     the records that could not be read
    ingests/0001.json         what each ingest read and counted, and the files it wrote

The day, in UTC, is the time of an operation, a message or a period, or the birth of a file or an
entry (if unseen: the first time the entry was named). Surplus servers and days stand in
``server=others`` and ``day=others`` (see `partitions`). Every ingest adds files under its own
number and changes no others. A dataset consists of the files that its ingest records name
(`data.datasets.ingests`), and no others.
"""

from __future__ import annotations

import json
from collections import Counter, OrderedDict
from collections.abc import Collection
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.common import durable
from birthmark.data.datasets import ingests
from birthmark.data.datasets.partitions import TRAFFIC, Partitions, partitions, rows_by_server
from birthmark.data.datasets.text import with_text
from birthmark.data.schema import FILES, LOSS, MESSAGES, NAMES, OPERATIONS

TABLES = {
    "operations": OPERATIONS,
    "messages": MESSAGES,
    "files": FILES,
    "names": NAMES,
    "loss": LOSS,
}
OPEN_PARTITIONS = 16
"""The most files written at once: each holds the buffers of its compressor."""

ROW_GROUP = 65_536
FILE_ROWS = 64 * ROW_GROUP  # a writer holds metadata of every row group until it closes
BUFFERED = OPEN_PARTITIONS * ROW_GROUP // 4
BATCH_COST = 128  # memory of a batch's fixed cost, in rows
ROW_BYTES = 512  # bytes of names, handles and lists that weigh as much as a row
SOUGHT = ("time", "client", "op", "status", "born", "died", "first_seen")
PARTITIONING = pa.schema([("server", pa.utf8()), ("day", pa.utf8())])


class _Partition:
    """A Parquet file being written, in row groups of :data:`ROW_GROUP` rows.

    It becomes a file with the first row group. `held` is its memory, in rows.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._writer: pq.ParquetWriter | None = None
        self._batches: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0
        self.written = self.held = 0

    def write(self, batch: pa.RecordBatch) -> None:
        self._batches.append(batch)
        self._rows += batch.num_rows
        text = _text_bytes(batch)
        self._bytes += text
        self.held += batch.num_rows + text // ROW_BYTES + BATCH_COST
        if self._rows >= ROW_GROUP or self._bytes >= ROW_GROUP * ROW_BYTES:
            self._flush()

    @property
    def is_open(self) -> bool:
        """Whether the file exists yet."""
        return self._writer is not None

    def close(self) -> None:
        if self._batches:
            self._flush()
        if self._writer is not None:
            self._writer.close()

    def _flush(self) -> None:
        table = pa.Table.from_batches(self._batches)
        if self._writer is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._writer = parquet_writer(self._path, table)
        self._writer.write_table(table, row_group_size=self._rows)
        self.written += self._rows
        self._batches, self._rows, self._bytes, self.held = [], 0, 0, 0
        pa.default_memory_pool().release_unused()


def _text_bytes(batch: pa.RecordBatch) -> int:
    """Return the bytes of all values of unbounded length."""
    return sum(
        column.nbytes
        for column in batch.columns
        if pa.types.is_binary(column.type) or pa.types.is_list(column.type)
    )


def parquet_writer(path: Path, first: pa.Table) -> pq.ParquetWriter:
    """Open a Parquet file for rows like those of ``first``.

    Columns without a value there are not compressed: most stay empty, and setting up a compressor
    for each of their pages took a tenth of the writing.
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
    """Return the Parquet columns of a column of lists or structures."""
    if pa.types.is_list(kind):
        return _leaves(f"{name}.list.element", kind.value_type)
    if pa.types.is_struct(kind):
        return [leaf for child in kind for leaf in _leaves(f"{name}.{child.name}", child.type)]
    return [name]


class DatasetWriter:
    """Writes one ingest into a dataset directory, all of it or nothing.

    Use it as a context manager: the files are renamed into place when the block ends without an
    exception, and removed otherwise, as is a directory made for them. One process at a time writes
    into a dataset; the others wait.

    ``number``, in the block, names its files; None: the next. ``servers`` are those to keep
    separate; None: those with most traffic.
    """

    def __init__(
        self, directory: Path, number: str | None = None, servers: Collection[str] | None = None
    ) -> None:
        self.directory = directory
        self.places = Partitions(servers)
        self.number = number or ""
        self._record: dict[str, Any] = {}
        self._partitions: OrderedDict[Path, _Partition] = OrderedDict()
        self._parts: Counter[Path] = Counter()
        self._held = 0

    def __enter__(self) -> DatasetWriter:
        with ExitStack() as stack:
            stack.enter_context(durable.alone_in(self.directory))
            ingests.clear(self.directory)
            stack.callback(ingests.clear, self.directory)
            self.number = self.number or ingests.next_number(self.directory)
            self._staging = ingests.staging_directory(self.directory, self.number)
            self._staging.mkdir()
            self._left = stack.pop_all()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        durable.name_writing(error, self.directory)
        with self._left, durable.error_context(self.directory):
            while self._partitions:  # a closed writer holds memory until it is released
                self._partitions.popitem(last=False)[1].close()
            if error is None:
                self._publish()

    def write(self, table: str, batch: pa.RecordBatch) -> None:
        """Add rows of a table, each to the partition of its server and day."""
        if batch.num_rows == 0:
            return
        if table in TRAFFIC:
            self.places.meet(rows_by_server(batch))
        for server, day, part in partitions(batch, _day_time(table, batch), self.places):
            partition = self._partition(Path(table, folder(server), f"day={day}"))
            self._held -= partition.held
            partition.write(part)
            self._held += partition.held
        self._make_room()

    def write_lines(self, path: str, lines: list[dict[str, Any]]) -> None:
        """Append JSON lines to a file of the dataset."""
        if lines:
            target = self._staging / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps(line) + "\n" for line in lines)

    def add_file(self, path: Path, place: Path) -> None:
        """Link a finished file, which also stays where it is, into the dataset."""
        target = self._staging / place
        target.parent.mkdir(parents=True, exist_ok=True)
        durable.link(path, target)

    def write_record(self, content: dict[str, Any]) -> None:
        """Set the ingest's record, without the names of its files."""
        self._record = content

    def _partition(self, folder: Path) -> _Partition:
        partition = self._partitions.get(folder)
        if partition is not None and partition.written >= FILE_ROWS:
            self._held -= partition.held
            self._partitions.pop(folder).close()
            partition = None
        if partition is None:
            partition = _Partition(self._staging / folder / f"{self._name(folder)}.parquet")
            self._partitions[folder] = partition
        self._partitions.move_to_end(folder)
        return partition

    def _name(self, folder: Path) -> str:
        """Return the name of the next file in a folder."""
        self._parts[folder] += 1
        part = self._parts[folder]
        return self.number if part == 1 else f"{self.number}-{part}"

    def _make_room(self) -> None:
        """Close the least recently written partitions if too many are open or hold too much."""
        is_open = sum(partition.is_open for partition in self._partitions.values())
        while len(self._partitions) > 1 and (is_open > OPEN_PARTITIONS or self._held > BUFFERED):
            partition = self._partitions.popitem(last=False)[1]
            self._held -= partition.held
            is_open -= partition.is_open
            partition.close()

    def _publish(self) -> None:
        staged = sorted(path for path in self._staging.rglob("*") if path.is_file())
        places = {path: self._at_last(path.relative_to(self._staging)) for path in staged}
        names = {path: place.as_posix() for path, place in places.items()}
        ingests.publish(self.directory, self.number, names, self._record)

    def _at_last(self, path: Path) -> Path:
        """Return a file's final path: with the others if its server was displaced meanwhile."""
        if path.parts[0] not in TABLES:
            return path
        table, server, day, _ = path.parts
        own = folder(self.places.at_last(server_of(server)))
        if own == server:
            return path
        with_others = Path(table, own, day)
        return with_others / f"{self._name(with_others)}.parquet"


def folder(server: str) -> str:
    """Return the name of a server's folder in a table's folder."""
    return f"server={quote(server, safe='')}"


def server_of(folder: str) -> str:
    """Return the server that a folder is named after."""
    return unquote(folder.removeprefix("server="))


def with_server(batch: pa.RecordBatch, path: Path) -> pa.RecordBatch:
    """Return rows of a dataset's file with the server that a parent folder names.

    Raises ``ValueError`` if no parent does.
    """
    folders = [part for part in path.parts if part.startswith("server=")]
    if not folders:
        raise ValueError(f"{path}: expected a folder server=… above it, as datasets have")
    codes = pa.repeat(pa.scalar(0, pa.int32()), len(batch))
    servers = pa.DictionaryArray.from_arrays(codes, [server_of(folders[-1])])
    return batch.append_column(OPERATIONS.field("server"), servers)


def _day_time(table: str, batch: pa.RecordBatch) -> pa.Array:
    if table in ("operations", "messages", "loss"):
        return batch["time"]
    return pc.coalesce(batch["born"], batch["first_seen"])


def read_table(
    directory: Path, table: str, columns: list[str] | None = None, text: bool = False
) -> pa.Table:
    """Read a table of a dataset (a key of :data:`TABLES`) in the form of its schema.

    ``text`` adds a text column after each column of names (`data.datasets.text`).

    Raises:
        FileNotFoundError: the directory is no dataset, or lacks a file that its records name.
        ValueError: a record, or a file of the table, is damaged (pages are compared with their
            checksums).
    """
    import pyarrow.dataset as ds  # slow to import, and needed only to read

    schema, folder = TABLES[table], Path(directory) / table
    wanted = pa.schema([schema.field(name) for name in columns]) if columns else schema
    paths = [str(path) for path in ingests.table_files(Path(directory), table)]
    if not paths:
        return with_text(wanted.empty_table()) if text else wanted.empty_table()
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
        found = source.to_table(columns=wanted.names).cast(wanted)
    except (OSError, pa.ArrowException) as error:
        raise ValueError(f"{folder}: expected intact Parquet files: {error}") from error
    return with_text(found) if text else found


def read_files(directory: Path, text: bool = False) -> pa.Table:
    """Read a dataset's files table (:data:`birthmark.data.schema.FILES`); ``text``: see above."""
    return read_table(directory, "files", text=text)


def read_names(directory: Path, text: bool = False) -> pa.Table:
    """Read a dataset's names table (:data:`birthmark.data.schema.NAMES`); ``text``: see above."""
    return read_table(directory, "names", text=text)
