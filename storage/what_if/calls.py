"""The calls of a dataset, as input of the simulated server.

A dataset's operations are in the order of their replies. Here they come in the order of the calls,
with times in nanoseconds since the first one, and numbers for files and callers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.common.arrays import Ints
from birthmark.data.datasets import ingests
from birthmark.data.datasets.tables import server_of
from birthmark.data.schema import OPERATIONS
from birthmark.storage.what_if.columns import CALLS, UNKNOWN
from birthmark.storage.what_if.lives import NO_BIRTHS, Births, Deaths
from birthmark.storage.what_if.operations import COLUMNS, Maker

BACK_US = 1_000_000
"""Largest tolerated disorder of replies. More means that a clock was set back."""

_LATE_US = 5_000_000
"""Largest delay of a call behind calls whose replies precede it."""


@dataclass(frozen=True)
class Survey:
    """One server's calls in a dataset.

    Attributes:
        dataset: its directory.
        server: the server, as the trace writes it.
        paths: its files, in the order of time.
        rows: the number of operations.
        replied: the number of operations with a reply.
        start_us: the time of the first call, in microseconds since the epoch.
        half_us: the time by which half of them had come.
        end_us: the time of the last one.
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
        """The time by which half of the calls had come, in nanoseconds since the first one."""
        return (self.half_us - self.start_us) * 1000

    def period(self) -> str:
        """Return the times of the first and the last call, in words."""
        return f"{_instant(self.start_us)} to {_instant(self.end_us)} (UTC)"


def survey(dataset: Path, server: str | None = None) -> Survey:
    """Scan the times of a dataset.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no dataset, or has several servers and none was named; it has no reply; or
            its clock jumps. The message names the file and the row.
    """
    paths, named = _files(dataset, server)
    rows = sum(_rows(path) for path in paths)
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


def read(of: Survey, births: Births = NO_BIRTHS) -> Iterator[pa.RecordBatch]:
    """Return the calls in the order in which they came, in batches of `CALLS`.

    `births` has the hints for new files. A call without a reply that comes after later calls were
    emitted is emitted with their time.
    """
    maker = Maker(of.start_us, Deaths.of(of.dataset, of.server), births)
    held: list[dict[str, Ints]] = []
    emitted = 0
    for path in of.paths:
        for batch in _batches(path, COLUMNS):
            held.append(maker.calls(batch))
            replies = held[-1]["replied"][held[-1]["replied"] != UNKNOWN]
            if not len(replies):
                continue
            limit = max(emitted, int(replies.max()) - _LATE_US * 1000)
            ready, rest = _split(_joined(held), limit, emitted)
            held, emitted = [rest], limit
            if len(ready["at"]):
                yield _batch(ready)
    ready, _ = _split(_joined(held), UNKNOWN, emitted)
    if len(ready["at"]):
        yield _batch(ready)


def _files(dataset: Path, server: str | None) -> tuple[list[Path], str]:
    """Return a server's files in the order of time, and which server it is."""
    by_server: dict[str, list[Path]] = {}
    for path in ingests.table_files(dataset, "operations"):
        by_server.setdefault(server_of(path.parent.parent.name), []).append(path)
    if server is None and len(by_server) == 1:
        server = next(iter(by_server))
    if not by_server:
        raise ValueError(f"{dataset}: the dataset is empty: expected operations to simulate")
    if server is None or server not in by_server:
        asked = "none was named" if server is None else f"{server} is not among them"
        there = ", ".join(sorted(by_server))
        raise ValueError(f"{dataset}: expected --server, one of: {there}; {asked}")
    return sorted(by_server[server], key=_in_time), server


def _rows(path: Path) -> int:
    """Return the number of operations of a file; refuse one without the columns that are read."""
    with _intact(path) as file:
        for name in COLUMNS:
            wanted, column = OPERATIONS.field(name).type, file.schema_arrow.get_field_index(name)
            found = file.schema_arrow.field(column).type if column >= 0 else "none"
            if not _alike(found, wanted):
                raise ValueError(f"{path}: column {name}: expected {wanted}, found {found}")
        return int(file.metadata.num_rows)


def _alike(found: Any, wanted: pa.DataType) -> bool:
    """Return whether a column has the wanted type, as a dictionary or not."""
    plain = [
        own.value_type if isinstance(own, pa.DictionaryType) else own for own in (found, wanted)
    ]
    return bool(plain[0] == plain[1])


@contextmanager
def _intact(path: Path) -> Iterator[pq.ParquetFile]:
    """Open a file; raise ValueError, with its name, where it is damaged."""
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            yield file
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: expected an intact Parquet file: {error}") from error


def _in_time(path: Path) -> tuple[str, str, int]:
    """Return the day, the ingest and the part of a file: ``0001.parquet`` is before ``0001-2``."""
    ingest, _, part = path.stem.rpartition("-") if "-" in path.stem else (path.stem, "", "1")
    return path.parent.name, ingest, int(part) if part.isdecimal() else 0


def _batches(path: Path, columns: list[str]) -> Iterator[pa.RecordBatch]:
    with _intact(path) as file:
        for batch in file.iter_batches(columns=columns):
            if len(batch):
                yield batch


def _micros(column: pa.Array) -> Ints:
    """Return times in microseconds; 0 for none."""
    values: Ints = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return values


def _check_clock(path: Path, first: int, time: Ints, reply: Ints, has: Any, latest: int) -> int:
    """Return the latest reply; refuse one before its call, or too far before others."""
    before = np.flatnonzero(has & (reply < time))
    if len(before):
        row = int(before[0])
        times = f"a reply at {_instant(reply[row])} to a call of {_instant(time[row])}"
        raise ValueError(
            f"{path}: row {first + row + 1}: expected times that ascend, found {times}"
        )
    replies, rows = reply[has], np.flatnonzero(has)
    if not len(replies):
        return latest
    latest_before = np.maximum.accumulate(np.concatenate([[latest], replies]))[:-1]
    back = np.flatnonzero(latest_before - replies > BACK_US)
    if len(back):
        at = int(back[0])
        times = f"{_instant(replies[at])} after {_instant(latest_before[at])}"
        raise ValueError(
            f"{path}: row {first + int(rows[at]) + 1}: expected replies in the order of time, "
            f"found one of {times}: was the clock set back?"
        )
    return max(latest, int(replies.max()))


def _instant(micros: int) -> str:
    return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=int(micros))).strftime(
        "%Y-%m-%d %H:%M:%S.%f"
    )


def _joined(parts: list[dict[str, Ints]]) -> dict[str, Ints]:
    if not parts:
        return {name: np.empty(0, np.uint64) for name in CALLS.names}
    return {name: np.concatenate([part[name] for part in parts]) for name in CALLS.names}


def _split(
    calls: dict[str, Ints], limit: int, emitted: int
) -> tuple[dict[str, Ints], dict[str, Ints]]:
    """Return the calls before an instant in their order, none before `emitted`; and the others."""
    ready = calls["at"] < limit
    order = np.flatnonzero(ready)[np.argsort(calls["at"][ready], kind="stable")]
    first = {name: column[order] for name, column in calls.items()}
    first["at"] = np.maximum(first["at"], np.uint64(emitted))
    return first, {name: column[~ready] for name, column in calls.items()}


def _batch(calls: dict[str, Ints]) -> pa.RecordBatch:
    arrays = [pa.array(calls[field.name].astype(field.type.to_pandas_dtype())) for field in CALLS]
    return pa.RecordBatch.from_arrays(arrays, schema=CALLS)
