"""The calls of a dataset, as the simulated server is fed them.

A dataset's operations stand in the order of their replies. Here they come in the order of the
calls, with times in nanoseconds since the first one, and numbers for files and callers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.common.arrays import Ints
from birthmark.data.datasets import ingests
from birthmark.data.datasets.tables import server_of
from birthmark.storage.what_if.deaths import Deaths

CALLS = pa.schema(
    [
        pa.field(name, kind, nullable=False)
        for name, kind in {
            "at": pa.uint64(),
            "replied": pa.uint64(),
            "stream": pa.uint32(),
            "connection": pa.uint32(),
            "class": pa.uint8(),
            "file": pa.uint32(),
            "target": pa.uint32(),
            "directory": pa.uint8(),
            "hints": pa.uint8(),
            "offset": pa.uint64(),
            "bytes": pa.uint32(),
            "end": pa.uint64(),
            "stable": pa.uint8(),
        }.items()
    ]
)
"""When it came and was answered (ns), of which caller and connection, what it asks for (a number of
`CLASSES`), of which file or directory, and which other one it finds, makes or removes (0: none),
whether that is a directory, and what hints say of it; the first byte, how many, how long the file
is then (of calls that set attributes: if they set it), and whether a write is stable."""

CLASSES = (
    *("getattr", "setattr", "lookup", "access", "read", "write"),
    *("commit", "create", "remove", "rename", "list", "other"),
)
"""What calls ask for. Those of a class take about as long."""

UNKNOWN = 2**64 - 1
"""For ``replied``: no reply was seen; for ``end``: the length is not known."""

BACK_US = 1_000_000
"""By so much replies may stand out of order. More is a clock that was set back."""

_CLASS_OF = {
    **{name: name for name in CLASSES},
    **{"mkdir": "create", "symlink": "create", "mknod": "create", "link": "create"},
    **{"open": "create", "rmdir": "remove", "readdir": "list", "readdirplus": "list"},
}
_RANK = (
    *("other", "getattr", "access", "lookup", "list", "setattr"),
    *("rename", "remove", "create", "commit", "write", "read"),
)
"""Of the operations of a compound, what the call is: the last of these."""

_COLUMNS = ["time", "reply_time", "client", "client_port", "uid", "version", "xid", "op", "fh"]
_COLUMNS += ["new_fh", "ftype", "offset", "count", "reply_count", "stable", "size", "set_size"]
_DIRECTORY = 2
_LATE_US = 5_000_000
"""Calls come at most so long after calls whose replies stand before them."""


@dataclass(frozen=True)
class Survey:
    """What a dataset has of one server.

    Attributes:
        dataset: its directory.
        server: which server, as the trace writes it.
        paths: its files, in the order of time.
        rows: how many operations they have.
        replied: of how many a reply was seen.
        start_us: when the first call came, in microseconds since the epoch.
        half_us: when half of them had come.
        end_us: when the last one came.
    """

    dataset: Path
    server: str
    paths: tuple[Path, ...]
    rows: int
    replied: int
    start_us: int
    half_us: int
    end_us: int

    @property
    def half(self) -> int:
        """When half of the calls had come, in nanoseconds since the first one."""
        return (self.half_us - self.start_us) * 1000

    def period(self) -> str:
        """Return when the first and the last call came, in words."""
        return f"{_instant(self.start_us)} to {_instant(self.end_us)} (UTC)"


def survey(dataset: Path, server: str | None = None) -> Survey:
    """Look through the times of a dataset.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no dataset, or has several servers and none was named; no reply was seen
            in it; or its clock jumps. The message names the file and the row.
    """
    paths, named = _files(dataset, server)
    rows = sum(pq.ParquetFile(path).metadata.num_rows for path in paths)
    if not rows:
        raise ValueError(f"{dataset}: expected operations of a server, found none")
    seen = replied = 0
    start, end, half, latest = 2**62, -(2**62), 0, -(2**62)
    for path in paths:
        first_row = 0
        for batch in _batches(path, ["time", "reply_time"]):
            time, reply = _micros(batch["time"]), _micros(batch["reply_time"])
            has = np.asarray(pc.is_valid(batch["reply_time"]))
            latest = _check_clock(path, first_row, time, reply, has, latest)
            start, end = min(start, int(time.min())), max(end, int(time.max()))
            if seen <= rows // 2 < seen + len(time):
                half = int(time[rows // 2 - seen])
            seen, first_row = seen + len(time), first_row + len(time)
            replied += int(has.sum())
    if not replied:
        raise ValueError(f"{dataset}: expected calls with replies, found {rows:,} without any")
    return Survey(dataset, named, tuple(paths), rows, replied, start, half, end)


def read(of: Survey) -> Iterator[pa.RecordBatch]:
    """Return the calls in the order in which they came, in batches of `CALLS`.

    A call without a reply may stand so late that others were told before it: it comes then.
    """
    reader = _Reader(of)
    held: list[dict[str, Ints]] = []
    told = 0
    for path in of.paths:
        for batch in _batches(path, _COLUMNS):
            held.append(reader.calls(batch))
            replies = held[-1]["replied"][held[-1]["replied"] != UNKNOWN]
            if not len(replies):
                continue
            limit = max(told, int(replies.max()) - _LATE_US * 1000)
            ready, rest = _split(_joined(held), limit, told)
            held, told = [rest], limit
            if len(ready["at"]):
                yield _batch(ready)
    ready, _ = _split(_joined(held), UNKNOWN, told)
    if len(ready["at"]):
        yield _batch(ready)


def _files(dataset: Path, server: str | None) -> tuple[list[Path], str]:
    """Return a server's files in the order of time, and which server it is."""
    by_server: dict[str, list[Path]] = {}
    for path in ingests.table_files(dataset, "operations"):
        by_server.setdefault(server_of(path.parent.parent.name), []).append(path)
    if server is None and len(by_server) == 1:
        server = next(iter(by_server))
    if server is None or server not in by_server:
        asked = "none was named" if server is None else f"{server} is not among them"
        there = ", ".join(sorted(by_server)) or "none"
        raise ValueError(f"{dataset}: expected --server, one of: {there}; {asked}")
    return sorted(by_server[server], key=_in_time), server


def _in_time(path: Path) -> tuple[str, str, int]:
    """Return the day, the ingest and the part of a file: ``0001.parquet`` is before ``0001-2``."""
    ingest, _, part = path.stem.rpartition("-") if "-" in path.stem else (path.stem, "", "1")
    return path.parent.name, ingest, int(part) if part.isdecimal() else 0


def _batches(path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            for batch in file.iter_batches(columns=columns):
                if len(batch):
                    yield batch
    except pa.ArrowException as error:
        raise ValueError(f"{path}: expected an intact Parquet file: {error}") from error


def _micros(column: pa.Array) -> Ints:
    """Return times in microseconds; 0 where there is none."""
    values: Ints = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return values


def _check_clock(path: Path, first: int, time: Ints, reply: Ints, has: Any, latest: int) -> int:
    """Return the latest reply; refuse one before its call, or before others by too much."""
    before = np.flatnonzero(has & (reply < time))
    if len(before):
        row = int(before[0])
        told = f"a reply at {_instant(reply[row])} to a call of {_instant(time[row])}"
        raise ValueError(f"{path}: row {first + row + 1}: expected times that ascend, found {told}")
    replies, rows = reply[has], np.flatnonzero(has)
    if not len(replies):
        return latest
    latest_before = np.maximum.accumulate(np.concatenate([[latest], replies]))[:-1]
    back = np.flatnonzero(latest_before - replies > BACK_US)
    if len(back):
        at = int(back[0])
        told = f"{_instant(replies[at])} after {_instant(latest_before[at])}"
        raise ValueError(
            f"{path}: row {first + int(rows[at]) + 1}: expected replies in the order of time, "
            f"found one of {told}: was the clock set back?"
        )
    return max(latest, int(replies.max()))


def _instant(micros: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(micros))).strftime(
        "%Y-%m-%d %H:%M:%S.%f"
    )


class _Numbers:
    """Numbers for values, from 1 in the order in which they were met; 0 is for none."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._next = count(1)

    def of(self, column: pa.Array) -> Ints:
        """Return the number of each value."""
        dictionary = pa.types.is_dictionary(column.type)
        encoded = column if dictionary else column.dictionary_encode()
        known = [self._number(one) for one in encoded.dictionary.to_pylist()]
        return np.array([*known, 0], np.int64)[_ints(encoded.indices, len(known))]

    def of_integers(self, values: Ints) -> Ints:
        """Return the number of each value."""
        keys, inverse = np.unique(values, return_inverse=True)
        return np.array([self._number(int(key)) for key in keys])[inverse]

    def forget(self, column: pa.Array) -> None:
        """Forget values, so that memory is needed only for those in use."""
        for one in column.to_pylist():
            self._numbers.pop(one, None)

    def _number(self, value: Any) -> int:
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = next(self._next)
        return found


class _Reader:
    """Makes calls of operations: what it needs to know of those before."""

    def __init__(self, of: Survey) -> None:
        self._start = of.start_us
        self._deaths = Deaths.of(of.dataset, of.server)
        self._files, self._clients = _Numbers(), _Numbers()
        self._streams, self._connections = _Numbers(), _Numbers()

    def calls(self, batch: pa.RecordBatch) -> dict[str, Ints]:
        """Return the columns of `CALLS` of some operations."""
        op = batch["op"].dictionary_encode() if batch["op"].type == pa.utf8() else batch["op"]
        words = [CLASSES.index(_CLASS_OF.get(word, "other")) for word in op.dictionary.to_pylist()]
        kind = np.array([*words, 0], np.uint8)[_ints(op.indices)]
        replied, has = _ints(batch["reply_time"].cast(pa.int64()), 0), _valid(batch["reply_time"])
        moved = pc.coalesce(batch["reply_count"], batch["count"])
        data = np.isin(kind, [CLASSES.index("read"), CLASSES.index("write")])
        client = self._clients.of(batch["client"])
        user = _ints(batch["uid"], 2**32 - 1).astype(np.int64)
        port = _ints(batch["client_port"]).astype(np.int64)
        columns: dict[str, Any] = {
            "at": ((_ints(batch["time"].cast(pa.int64())) - self._start) * 1000).astype(np.uint64),
            "replied": np.where(has, (replied - self._start) * 1000, 0).astype(np.uint64),
            "stream": self._streams.of_integers(client << 32 | user) - 1,
            "connection": self._connections.of_integers(client << 16 | port),
            "class": kind,
            "file": self._files.of(batch["fh"]),
            "target": self._targets(batch, kind, replied),
            "directory": _directories(batch),
            "hints": np.zeros(len(kind), np.uint8),
            "offset": _ints(batch["offset"], 0),
            "bytes": np.where(data, _ints(moved, 0), 0),
            "end": _ends(batch, kind),
            "stable": _ints(batch["stable"], 0),
        }
        columns["replied"][~has] = UNKNOWN
        return _one_a_compound(columns, batch)

    def _targets(self, batch: pa.RecordBatch, kind: Any, replied: Ints) -> Ints:
        """Return what each call finds, makes, or takes the last name of."""
        found = self._files.of(batch["new_fh"])
        rows = np.flatnonzero(np.isin(kind, [CLASSES.index("remove"), CLASSES.index("rename")]))
        dying, dead = self._deaths.at(replied[rows])
        found[rows] = 0
        found[rows[dying]] = self._files.of(dead)
        self._files.forget(dead)
        return found


def _directories(batch: pa.RecordBatch) -> Ints:
    """Return whether what is found or made by a name is a directory."""
    found: Ints = (_ints(batch["ftype"], 0) == _DIRECTORY).astype(np.uint8)
    return found


def _ends(batch: pa.RecordBatch, kind: Any) -> Any:
    """Return how long each file is then, where that is told and means something."""
    found = _ints(batch["size"], 0).astype(np.uint64)
    sets = kind == CLASSES.index("setattr")
    found[~np.where(sets, _valid(batch["set_size"]), _valid(batch["size"]))] = UNKNOWN
    found[sets] = np.where(_valid(batch["set_size"]), _ints(batch["set_size"], 0), found)[sets]
    return found


def _valid(column: pa.Array) -> Any:
    return np.asarray(pc.is_valid(column))


def _one_a_compound(columns: dict[str, Ints], batch: pa.RecordBatch) -> dict[str, Ints]:
    """Of the operations of a compound of version 4 leave the one that the call is about."""
    version = _ints(batch["version"])
    if not (version == 4).any():
        return columns
    xid = _ints(batch["xid"])
    same = (version[1:] == 4) & (xid[1:] == xid[:-1])
    same &= (columns["at"][1:] == columns["at"][:-1]) & (
        columns["stream"][1:] == columns["stream"][:-1]
    )
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    rank = np.array([_RANK.index(name) for name in CLASSES])[columns["class"]]
    place = np.arange(len(rank))
    chosen = np.maximum.reduceat(rank * len(rank) + place, starts) % len(rank)
    return {name: column[chosen] for name, column in columns.items()}


def _ints(column: pa.Array, null: int | None = None) -> Ints:
    filled = column if null is None else column.fill_null(null)
    values: Ints = filled.to_numpy(zero_copy_only=False)
    return values


def _joined(parts: list[dict[str, Ints]]) -> dict[str, Ints]:
    if not parts:
        return {name: np.empty(0, np.uint64) for name in CALLS.names}
    return {name: np.concatenate([part[name] for part in parts]) for name in CALLS.names}


def _split(
    calls: dict[str, Ints], limit: int, told: int
) -> tuple[dict[str, Ints], dict[str, Ints]]:
    """Return the calls before an instant in their order, none before `told`; and the others."""
    ready = calls["at"] < limit
    order = np.flatnonzero(ready)[np.argsort(calls["at"][ready], kind="stable")]
    first = {name: column[order] for name, column in calls.items()}
    first["at"] = np.maximum(first["at"], np.uint64(told))
    return first, {name: column[~ready] for name, column in calls.items()}


def _batch(calls: dict[str, Ints]) -> pa.RecordBatch:
    arrays = [pa.array(calls[field.name].astype(field.type.to_pandas_dtype())) for field in CALLS]
    return pa.RecordBatch.from_arrays(arrays, schema=CALLS)
