"""The calls to which a server is fitted, with their attributes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.storage.native import StorageReuse
from birthmark.storage.what_if.columns import CLASSES, UNKNOWN
from birthmark.storage.what_if.server import BLOCK, WRITE_BACK_NS

FIRST = np.inf
"""The reuse distance of data that was not touched before."""


@dataclass(frozen=True)
class Sample:
    """Calls with a reply, one a row.

    Attributes:
        at: arrival times, ns.
        latency: times until the reply, μs.
        kind: their class, a number of `CLASSES`.
        bytes: data that they move.
        stable: whether they are writes that must be on stable storage.
        outstanding: the number of unanswered calls at their arrival.
        behind: the number of these on the same connection.
        distance: for reads, bytes of other data touched since their data was; `FIRST`: never. NaN
            for all other calls, for sequential reads, and for reads with only a part touched
            before.
        dirty: for commits and stable writes, the bytes to make stable. NaN for commits of data that
            the server may have written back by then.
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
        """Calls that came when no other was under way: their latency is their service time."""
        found: Bools = self.outstanding == 0
        return found

    def blocks(self, count: int) -> list[Ints]:
        """Return the rows of stretches of time, each with about as many calls."""
        return np.array_split(np.arange(len(self)), count)


def sampled(batches: Iterable[pa.RecordBatch]) -> Sample:
    """Return a sample of calls, which come in order from the first one on."""
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
    """Return the number of unanswered calls at each arrival."""
    came = np.searchsorted(np.sort(at), at, "left")
    answered = np.searchsorted(np.sort(replied), at, "right")
    return np.asarray(came - answered).clip(0)


def _behind(columns: dict[str, Ints]) -> Ints:
    """Return the number of unanswered calls of the same connection at each arrival."""
    order = np.argsort(columns["connection"], kind="stable")
    found = np.zeros(len(order), np.int64)
    starts = np.flatnonzero(np.diff(columns["connection"][order])) + 1
    for rows in np.split(order, starts):
        found[rows] = _outstanding(columns["at"][rows], columns["replied"][rows])
    return found


def _going_on(columns: dict[str, Ints]) -> Bools:
    """Return which reads begin where an earlier call ended in the same file."""
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
    """Blocks that were written and are not known to be on disk, and since when."""

    def __init__(self) -> None:
        self._files: dict[int, tuple[int, set[int]]] = {}

    def add(self, file: int, blocks: range, at: int) -> None:
        """Record that blocks of a file were written."""
        self._files.setdefault(file, (at, set()))[1].update(blocks)

    def take(self, file: int, at: int) -> float:
        """Return the bytes of a file's blocks, which are stable now; NaN: not known."""
        since, blocks = self._files.pop(file, (at, set()))
        return len(blocks) * BLOCK if at - since < WRITE_BACK_NS else np.nan

    def cut(self, file: int, end: int) -> None:
        """Record a file's new length; `UNKNOWN`: no change."""
        if end != UNKNOWN and file in self._files:
            since, blocks = self._files.pop(file)
            left = {block for block in blocks if block * BLOCK < end}
            if left:
                self._files[file] = (since, left)
