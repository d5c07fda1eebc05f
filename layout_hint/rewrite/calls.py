"""The calls of a section of a trace, as Python objects, from traces and datasets."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.datasets import row_groups
from birthmark.data.datasets.ingests import table_files
from birthmark.data.datasets.tables import with_server
from birthmark.data.traces.inputs import TraceOrderCheck
from birthmark.data.traces.reader import BATCH_ROWS, open_trace
from birthmark.layout_hint.rewrite.permissions import Caller

AT_ONCE = 4_096
"""Rows that are Python objects at a time."""


class Attributes(NamedTuple):
    """Attributes of an object in a reply, each None where it was not seen. Times in µs."""

    ftype: int | None
    mode: int | None
    nlink: int | None
    owner: int | None
    group: int | None
    size: int | None
    atime: int | None
    mtime: int | None
    ctime: int | None


class Entry(NamedTuple):
    """An entry of a readdirplus reply that had a handle."""

    name: bytes
    fh: bytes
    attributes: Attributes


class Call(NamedTuple):
    """A row of the operations table; handles begin with the server's name."""

    time: int
    reply_time: int | None
    server: str
    version: int
    op: str
    status: int | None
    short: bool
    uid: int | None
    gid: int | None
    gids: list[int] | None
    fh: bytes | None
    name: bytes | None
    fh2: bytes | None
    name2: bytes | None
    new_fh: bytes | None
    offset: int | None
    count: int | None  # type: ignore[assignment]  # hides tuple.count
    cookie: int | None
    how: int | None
    target: bytes | None
    set_ftype: int | None
    set_mode: int | None
    set_owner: int | None
    set_group: int | None
    set_size: int | None
    set_atime: int | None
    set_atime_how: int | None
    set_mtime: int | None
    set_mtime_how: int | None
    reply_count: int | None
    pre_size: int | None
    ftype: int | None
    mode: int | None
    nlink: int | None
    owner: int | None
    group: int | None
    size: int | None
    atime: int | None
    mtime: int | None
    ctime: int | None
    dir_ftype: int | None
    dir_mode: int | None
    dir_nlink: int | None
    dir_owner: int | None
    dir_group: int | None
    dir_ctime: int | None
    dir2_ftype: int | None
    dir2_mode: int | None
    dir2_nlink: int | None
    dir2_owner: int | None
    dir2_group: int | None
    dir2_ctime: int | None
    entries: Sequence[Entry] = ()

    @property
    def caller(self) -> Caller:
        """The caller."""
        return Caller(self.uid, self.gid, self.gids)

    @property
    def attributes(self) -> Attributes:
        """The attributes of the object itself: found, made, or named by the handle."""
        fields = (self.ftype, self.mode, self.nlink, self.owner, self.group, self.size)
        return Attributes(*fields, self.atime, self.mtime, self.ctime)

    @property
    def directory(self) -> Attributes:
        """The attributes of the directory of name."""
        fields = (self.dir_ftype, self.dir_mode, self.dir_nlink, self.dir_owner, self.dir_group)
        return Attributes(*fields, None, None, None, self.dir_ctime)

    @property
    def directory2(self) -> Attributes:
        """The attributes of the directory of name2."""
        fields = (self.dir2_ftype, self.dir2_mode, self.dir2_nlink, self.dir2_owner)
        return Attributes(*fields, self.dir2_group, None, None, None, self.dir2_ctime)


COLUMNS = list(Call._fields)
HANDLES = ("fh", "fh2", "new_fh")


def read_calls(
    traces: Sequence[str | Path], first: int | None = None, last: int | None = None
) -> Iterator[Call]:
    """Yield the calls made from ``first`` to before ``last`` (µs), in about the order of replies.

    A directory is a dataset; anything else is what `data.traces.reader.open_trace` opens. Raises
    ValueError for a trace that begins before one of the same server that is named before it.
    """
    beginnings = TraceOrderCheck()
    for trace in traces:
        if Path(trace).is_dir():
            yield from _dataset_calls(Path(trace), first, last)
        else:
            for chunk in beginnings.of(open_trace(trace)):
                for batch in chunk.operations:
                    yield from _calls(batch.select(COLUMNS), first, last)


def _dataset_calls(directory: Path, first: int | None, last: int | None) -> Iterator[Call]:
    """Yield the calls of a dataset, those of several servers merged by the times of replies."""
    servers: dict[Path, list[Path]] = {}
    for path in table_files(directory, "operations"):
        servers.setdefault(path.parent.parent, []).append(path)
    streams = [_server_calls(paths, first, last) for _, paths in sorted(servers.items())]
    yield from heapq.merge(*streams, key=lambda call: call.reply_time or call.time)


def _server_calls(paths: Sequence[Path], first: int | None, last: int | None) -> Iterator[Call]:
    for path in sorted(paths, key=_written):
        file = pq.ParquetFile(path)
        missing = set(COLUMNS) - {"server"} - set(file.schema_arrow.names)
        if missing:
            raise ValueError(f"{path}: expected the operations table, found no {sorted(missing)}")
        for batch in row_groups.batches(file, BATCH_ROWS, [c for c in COLUMNS if c != "server"]):
            yield from _calls(with_server(batch, path).select(COLUMNS), first, last)


def _written(path: Path) -> tuple[str, list[int]]:
    """Order the files of a server: by day, ingest and part."""
    return path.parent.name, [int(part) for part in path.stem.split("-") if part.isdigit()]


def _calls(batch: pa.RecordBatch, first: int | None, last: int | None) -> Iterator[Call]:
    # as Python objects rows take much room
    for at in range(0, batch.num_rows, AT_ONCE):
        yield from _few(batch.slice(at, AT_ONCE), first, last)


def _few(batch: pa.RecordBatch, first: int | None, last: int | None) -> Iterator[Call]:
    times = batch["time"].cast(pa.int64())
    for bound, keep in ((first, pc.greater_equal), (last, pc.less)):
        if bound is not None:
            batch = batch.filter(keep(times, bound))
            times = batch["time"].cast(pa.int64())
    columns = [_values(column) for column in batch.columns[:-1]]
    prefixes = [f"{server} ".encode() for server in columns[COLUMNS.index("server")]]
    for name in HANDLES:
        index = COLUMNS.index(name)
        handles = zip(prefixes, columns[index], strict=True)
        columns[index] = [fh and prefix + fh for prefix, fh in handles]
    columns.append(_entries(batch["entries"], prefixes))
    calls = map(Call._make, zip(*columns, strict=True))
    newest = pc.max(batch["version"]).as_py() or 0
    yield from map(_as_version_3, calls) if newest >= 4 else calls


def _as_version_3(call: Call) -> Call:
    """Translate an operation of version 4 into the terms of version 3 (RFC 7530 section 16).

    An open that may create becomes a create, one that may not a lookup, and one by handle only
    checks that the object exists. Operations on the state of opens and locks do not change.
    """
    if call.version != 4 or call.op not in ("open", "lookupp"):
        return call
    if call.op == "lookupp":
        return call._replace(op="lookup", name=b"..")
    if call.name is None:
        return call._replace(op="getattr")
    if call.how is None:
        return call._replace(op="lookup")
    return call._replace(op="create", how=min(call.how, 2))


def _values(column: pa.Array) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    elif pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    values: list[Any] = column.to_pylist()
    return values


def _entries(column: pa.Array, prefixes: list[bytes]) -> list[Sequence[Entry]]:
    """Return the entries with handles, row by row, without a Python dictionary for each."""
    if column.null_count == len(column):
        return [()] * len(column)
    flat = pc.list_flatten(column)
    shown = (_child(flat, name) for name in Attributes._fields)
    attributes = map(Attributes._make, zip(*shown, strict=True))
    entries = zip(_child(flat, "name"), _child(flat, "fh"), attributes, strict=True)
    rows: list[Sequence[Entry]] = []
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_pylist()
    for prefix, length in zip(prefixes, lengths, strict=True):
        row_entries = [next(entries) for _ in range(length)]
        rows.append(
            [Entry(name, prefix + fh, seen) for name, fh, seen in row_entries if name and fh]
        )
    return rows


def _child(flat: pa.Array, name: str) -> list[Any]:
    return _values(pc.struct_field(flat, name))
