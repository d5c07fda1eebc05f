"""A load for the player (``player.c``): what a build does to a file system.

Of its operations those that change something are taken, in their order and at the machine's own
speed. What happens by the clock happens by that of the trace: what is dirty is written out half a
minute after it became so, as the kernel's flusher does, and a commit is an ``fsync``.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

RECORD = struct.Struct("<BBHHHIIQQ")
EXPIRES, WAKES = 30_000_000, 5_000_000
"""When the kernel's flusher writes what is dirty, and how often it looks, µs (``vm.dirty_*``)."""

Name = tuple[int, bytes]
_COLUMNS = ["time", "op", "id", "name", "id2", "name2", "new_id", "offset", "count", "size"]
_TAKEN = ("create", "mkdir", "write", "setattr", "remove", "rename", "link", "commit")


class Op(IntEnum):
    """The operations of the player."""

    END, FOLDER, CREATE, WRITE, TRUNCATE, REMOVE, RENAME, LINK, SYNC, FLUSH, FILL, MARK = range(12)


class Step(NamedTuple):
    """An operation of the player; ``file`` is the stable identifier of what it is on."""

    op: Op
    file: int = 0
    name: Name = (0, b"")
    name2: Name = (0, b"")
    offset: int = 0
    count: int = 0
    percent: int = 0


class _Tree:
    """Mapping from names to files, and the time at which each file is to be written out."""

    def __init__(self) -> None:
        self._files: dict[Name, int] = {}
        self._names: dict[int, list[Name]] = {}
        self._dirty: dict[int, int] = {}
        self._looked = 0

    def add(self, file: int, name: Name) -> None:
        """Let a name lead to a file, instead of its former one."""
        if self._files.get(name) != file:
            self.remove(name)
            self._files[name] = file
            self._names.setdefault(file, []).append(name)

    def remove(self, name: Name) -> None:
        """Remove a name; a file without a name is not written out."""
        file = self._files.pop(name, None)
        if file is not None:
            self._names[file].remove(name)
            if not self._names[file]:
                self.synced(file)

    def name_of(self, file: int) -> Name | None:
        """Return a name of a file, None for what is none or has none."""
        return next(iter(self._names.get(file, ())), None)

    def file_at(self, name: Name) -> int | None:
        """Return the file that a name leads to."""
        return self._files.get(name)

    def written(self, file: int, time: int) -> None:
        """Note that a file is dirty."""
        self._dirty.setdefault(file, time)

    def synced(self, file: int) -> None:
        """Note that a file is dirty no more."""
        self._dirty.pop(file, None)

    def due(self, time: int) -> Iterator[int]:
        """Yield the files that the flusher writes out until ``time``."""
        if time - self._looked < WAKES:
            return
        self._looked = time
        for file in [f for f, since in self._dirty.items() if time - since >= EXPIRES]:
            self.synced(file)
            yield file


def steps(build: Path, marked: int | None = None) -> Iterator[Step]:
    """Yield the steps of a build; before the first at the time ``marked`` (µs) or later, a mark."""
    tree = _Tree()
    yield Step(Op.FOLDER)
    for row in _rows(build / "manifest.parquet"):
        yield from _existing(tree, row)
    wanted = pc.field("op").isin(_TAKEN) & (pc.field("status") == 0)
    for row in _rows(build / "operations.parquet", _COLUMNS, wanted):
        if marked is not None and row["time"] >= marked:
            marked = None
            yield Step(Op.MARK)
        for file in tree.due(row["time"]):
            yield Step(Op.FLUSH, file, tree.name_of(file) or (0, b""))
        yield from _done(tree, row)


def _rows(path: Path, columns: list[str] | None = None, wanted: Any = None) -> Iterator[Any]:
    table = pq.read_table(path, columns=columns, filters=wanted)
    if "time" in table.column_names:
        place = table.column_names.index("time")
        table = table.set_column(place, "time", table["time"].cast(pa.int64()))
    for batch in table.to_batches(max_chunksize=16_384):
        yield from batch.to_pylist()


def _existing(tree: _Tree, row: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what makes a file or folder that there is before the first operation."""
    name = (row["parent"], row["name"])
    if row["kind"] == "directory":
        yield Step(Op.FOLDER, row["id"], (row["id"], b""))
    elif row["kind"] == "file":
        known = tree.name_of(row["id"])
        tree.add(row["id"], name)
        if known is None:
            yield Step(Op.CREATE, row["id"], name, count=row["size"] or 0)
        else:
            yield Step(Op.LINK, row["id"], known, name)


def _done(tree: _Tree, row: Mapping[str, Any]) -> Iterator[Step]:
    """Yield what an operation of the trace does."""
    op, file, name = row["op"], row["id"], (row["id"], row["name"])
    if op == "mkdir" and row["new_id"] is not None:
        yield Step(Op.FOLDER, row["new_id"], (row["new_id"], b""))
    elif op == "create" and row["new_id"] is not None:
        if tree.file_at(name) != row["new_id"]:
            yield from _freed(tree, name)
            tree.add(row["new_id"], name)
            yield Step(Op.CREATE, row["new_id"], name)
    elif op == "remove":
        yield from _freed(tree, name)
    elif op in ("rename", "link") and (there := _source(tree, row)) is not None:
        yield from _named_again(tree, op, there, row)
    elif (known := tree.name_of(file)) is not None:
        yield from _changed(tree, row, known)


def _freed(tree: _Tree, name: Name) -> Iterator[Step]:
    """Yield what takes a name from the file that has it, if one does."""
    if (file := tree.file_at(name)) is not None:
        tree.remove(name)
        yield Step(Op.REMOVE, file, name)


def _source(tree: _Tree, row: Mapping[str, Any]) -> Name | None:
    """Return the name that a file has which is moved, or gets another name."""
    if row["op"] == "link":
        return tree.name_of(row["id"])
    name = (row["id"], row["name"])
    return name if tree.file_at(name) is not None else None


def _named_again(tree: _Tree, op: str, there: Name, row: Mapping[str, Any]) -> Iterator[Step]:
    file = tree.file_at(there)
    assert file is not None
    to = (row["id2"], row["name2"] if op == "rename" else row["name"])
    if to == there or tree.file_at(to) == file:
        return
    yield from _freed(tree, to)
    tree.add(file, to)
    if op == "rename":
        tree.remove(there)
    yield Step(Op.RENAME if op == "rename" else Op.LINK, file, there, to)


def _changed(tree: _Tree, row: Mapping[str, Any], name: Name) -> Iterator[Step]:
    """Yield what an operation does to a file's data."""
    op, file = row["op"], row["id"]
    if op == "write" and row["count"]:
        tree.written(file, row["time"])
        yield Step(Op.WRITE, file, name, offset=row["offset"], count=row["count"])
    elif op == "setattr" and row["size"] is not None:
        yield Step(Op.TRUNCATE, file, name, offset=row["size"])
    elif op == "commit":
        tree.synced(file)
        yield Step(Op.SYNC, file, name)


def write(load: BinaryIO, played: Iterable[Step], hints: Mapping[int, int]) -> None:
    """Write steps as the player reads them, with the write-life hint of each file that has one."""
    for step in played:
        hint = hints.get(step.file, 0) if step.op is Op.CREATE else 0
        (folder, name), (folder2, name2) = step.name, step.name2
        load.write(
            RECORD.pack(
                *(step.op, hint, len(name), len(name2), step.percent),
                *(folder, folder2, step.offset, step.count),
            )
        )
        load.write(name + name2)
    load.write(RECORD.pack(Op.END, *[0] * 8))
