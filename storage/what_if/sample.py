"""The calls that a server is fitted to, with what is known of each of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.storage.what_if.columns import CLASSES, UNKNOWN
from birthmark.storage.what_if.server import BLOCK, WRITE_BACK_NS
from birthmark_native import StorageReuse

FIRST = np.inf
"""The reuse distance of data that was not touched before."""


@dataclass(frozen=True)
class Sample:
    """Calls, one a row, of which a reply was seen.

    Attributes:
        at: when they came, ns.
        latency: until they were answered, μs.
        kind: what they ask for, a number of `CLASSES`.
        bytes: data that they move.
        stable: whether they are writes that must be on stable storage.
        outstanding: how many calls were not answered when they came.
        behind: how many of these had come on the same connection.
        distance: of reads, the bytes of other data touched since their data was; `FIRST`: never.
            Not a number for all others, for reads that go on where one of the file ended, and for
            those of which only a part was touched before.
        dirty: of commits, and of stable writes, the bytes that are to be made stable. Not a number
            for commits of what the server may have written unasked by then.
    """

    at: Floats
    latency: Floats
    kind: Ints
    bytes: Floats
    stable: Bools
    outstanding: Ints
    behind: Ints
    distance: Floats
    dirty: Floats

    def __len__(self) -> int:
        return len(self.at)

    def take(self, rows: Ints | Bools) -> Self:
        """Return some of the calls."""
        return type(self)(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})

    def of(self, name: str) -> Bools:
        """Return which calls are of a class."""
        found: Bools = self.kind == CLASSES.index(name)
        return found

    @property
    def alone(self) -> Bools:
        """Which calls came when no other was under way: they took as long as their own service."""
        found: Bools = self.outstanding == 0
        return found

    def blocks(self, count: int) -> list[Ints]:
        """Return the rows of stretches of time, each with about as many calls."""
        return np.array_split(np.arange(len(self)), count)


def sampled(batches: Iterable[pa.RecordBatch]) -> Sample:
    """Return what is known of calls, which come in their order from the first one on."""
    parts, reuse = [], StorageReuse(BLOCK)
    for batch in batches:
        distances = reuse.touch(batch)
        parts.append(batch.append_column("distance", _in_bytes(distances)))
    table = pa.Table.from_batches(parts)
    columns = {name: table[name].to_numpy() for name in table.column_names}
    columns["outstanding"] = _outstanding(columns["at"], columns["replied"])
    columns["behind"] = _behind(columns)
    seen = columns["replied"] != UNKNOWN
    going_on = _going_on(columns)
    return Sample(
        at=columns["at"][seen].astype(float),
        latency=(columns["replied"] - columns["at"])[seen] / 1e3,
        kind=columns["class"][seen].astype(np.int64),
        bytes=columns["bytes"][seen].astype(float),
        stable=columns["stable"][seen] > 0,
        outstanding=columns["outstanding"][seen],
        behind=columns["behind"][seen],
        distance=np.where(going_on, np.nan, columns["distance"])[seen],
        dirty=_dirty(columns)[seen],
    )


def _in_bytes(distances: pa.UInt64Array) -> pa.Array:
    values = np.asarray(distances.fill_null(0)).astype(float) * BLOCK
    values[values >= 2.0**63] = FIRST
    values[np.asarray(pc.is_null(distances))] = np.nan
    return pa.array(values)


def _outstanding(at: Ints, replied: Ints) -> Ints:
    """Return how many calls had come and were not answered when each came."""
    came = np.searchsorted(np.sort(at), at, "left")
    answered = np.searchsorted(np.sort(replied), at, "right")
    return np.asarray(came - answered).clip(0)


def _behind(columns: dict[str, Ints]) -> Ints:
    """Return how many calls of its own connection were not answered when each came."""
    order = np.argsort(columns["connection"], kind="stable")
    found = np.zeros(len(order), np.int64)
    starts = np.flatnonzero(np.diff(columns["connection"][order])) + 1
    for rows in np.split(order, starts):
        found[rows] = _outstanding(columns["at"][rows], columns["replied"][rows])
    return found


def _going_on(columns: dict[str, Ints]) -> Bools:
    """Return which reads begin where a call before them ended in the same file."""
    order = np.argsort(columns["file"], kind="stable")
    file, offset = columns["file"][order], columns["offset"][order]
    ends = offset + columns["bytes"][order]
    found = np.zeros(len(order), bool)
    found[order[1:]] = (file[1:] == file[:-1]) & (offset[1:] == ends[:-1]) & (offset[1:] > 0)
    return found


def _dirty(columns: dict[str, Ints]) -> Floats:
    """Return the bytes that each commit and each stable write has to make stable, in blocks."""
    found = np.zeros(len(columns["at"]))
    unstable = _Unstable()
    rows = np.flatnonzero(np.isin(columns["class"], [CLASSES.index(name) for name in _DIRTYING]))
    offset, moved = (columns[name][rows].astype(np.int64) for name in ("offset", "bytes"))
    first, behind = offset // BLOCK, -(-(offset + np.maximum(moved, 1)) // BLOCK)
    names = ("class", "file", "target", "end", "stable", "at")
    each = (columns[name][rows].tolist() for name in names)
    for row, start, stop, kind, file, target, end, stable, at in zip(
        rows.tolist(), first.tolist(), behind.tolist(), *each, strict=True
    ):
        word = CLASSES[kind]
        if word == "commit":
            found[row] = unstable.take(file, at)
        elif word == "write" and stable:
            found[row] = (stop - start) * BLOCK
        elif word == "write":
            unstable.add(file, range(start, stop), at)
        elif word == "setattr":
            unstable.cut(file, end)
        else:
            unstable.cut(target, 0 if word in ("remove", "rename") else end)
    return found


_DIRTYING = ("write", "commit", "setattr", "create", "remove", "rename")


class _Unstable:
    """Blocks that were written and are not on disk, as far as calls tell, and since when."""

    def __init__(self) -> None:
        self._files: dict[int, tuple[int, set[int]]] = {}

    def add(self, file: int, blocks: range, at: int) -> None:
        """Take note that blocks of a file are written."""
        self._files.setdefault(file, (at, set()))[1].update(blocks)

    def take(self, file: int, at: int) -> float:
        """Return the bytes of a file's blocks, which are stable now; not a number: not known."""
        since, blocks = self._files.pop(file, (at, set()))
        return len(blocks) * BLOCK if at - since < WRITE_BACK_NS else np.nan

    def cut(self, file: int, end: int) -> None:
        """Take note that a file has so many bytes; `UNKNOWN`: as many as before."""
        if end != UNKNOWN and file in self._files:
            since, blocks = self._files.pop(file)
            left = {block for block in blocks if block * BLOCK < end}
            if left:
                self._files[file] = (since, left)
