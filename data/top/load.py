"""The load of a server: operations counted by a scan's counters, and the busiest causes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.data.common.durations import SECOND
from birthmark.data.scan import words
from birthmark.data.scan.count import Plan
from birthmark.data.settings import Counting, Ranked, TopKey
from birthmark.data.top.sums import (
    APART,
    FIGURES,
    NEVER,
    WORDS,
    Evicted,
    Keyed,
    Sums,
    Total,
    Window,
)
from birthmark_native import ScanCounter

KEYS: tuple[TopKey, ...] = get_args(TopKey)
HIDES = 0.9
"""A directory is omitted if one below it has at least this share of its operations."""

BROUGHT = 5 * SECOND
"""The lag after which a view that is not shown is caught up, in µs of the trace's time."""

MOST = 100_000
"""The most users, clients, directories and files counted separately, live; see `Keyed`."""

LEAST_REPLIES = 10
"""Fewest replies for a rank by latency; values with fewer come last, as noise."""

_AT = {name: at for at, name in enumerate(FIGURES)}


@dataclass(frozen=True)
class Row:
    """The counts of one value of a key, or of all together.

    Attributes:
        name: a user's number, a client's address, or a path; None: no user was named.
        ops, errors, unanswered, bytes_read, bytes_written: as in a scan's table.
        latency_mean: mean time from call to reply, µs; None: no reply.
        latency_p99: the 99th percentile, µs, as in a scan's table; None: unknown.
        mostly: the most frequent operation; empty: none.
    """

    name: str | int | None
    ops: int = 0
    errors: int = 0
    unanswered: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    latency_mean: float | None = None
    latency_p99: int | None = None
    mostly: str = ""


@dataclass(frozen=True)
class Snapshot:
    """The counts of a window of time.

    Attributes:
        since, until: its begin and end, µs since the epoch.
        total: all together.
        rows: by key, the busiest, in descending order.
        evicted: by key, the counts that were dropped.
    """

    since: int
    until: int
    total: Row
    rows: dict[TopKey, list[Row]] = field(default_factory=dict)
    evicted: dict[TopKey, Evicted] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """Its length."""
        return (self.until - self.since) / SECOND


class LiveCounts:
    """Counts operations for each key, by the counters of `birthmark scan`.

    Live, operations are counted by the second of their call and visible at once, under the paths
    known by then. Paths that become known within a minute are corrected, so the result equals a
    scan with periods of a second. Otherwise periods are as requested, and visible when they have
    passed.

    Attributes:
        columns: the columns of the operations table that it needs.
        operations: the number counted.
        first, last: the time of the first call, and of the last call or reply, µs since the epoch;
            None: no operation yet.
    """

    def __init__(
        self,
        only: Counting | None = None,
        reach: int | None = None,
        most: int = MOST,
    ) -> None:
        """Count operations of the clients, users and groups of ``only``.

        Live, windows may reach back ``reach`` µs; None: not live. Beyond ``most`` values of a key,
        those with the least activity since the start are evicted.
        """
        asked = Plan.of(only or Counting())
        period = asked.period if reach is None else SECOND
        window = NEVER if reach is None else Window(0, 0, reach)

        def counter(by: list[str], ops: Sequence[str]) -> ScanCounter:
            return Plan(period, by, ops, asked.clients, asked.uids, asked.gids).counter(files=False)

        self._total = Total(counter([], []), window, most)
        self._keyed: dict[TopKey, Keyed] = {
            key: Keyed(words.key(key), counter([words.key(key)], APART), window, most)
            for key in KEYS
        }
        self._parts: list[Total | Keyed] = [self._total, *self._keyed.values()]
        self._reach = reach
        needed = [name for each in self._parts for name in each.counter.columns]
        self.columns = list(dict.fromkeys(needed))
        self.operations = 0
        self.first: int | None = None
        self.last: int | None = None

    @property
    def held(self) -> dict[TopKey, int]:
        """The number of values counted separately, by key."""
        return {key: len(keyed.names) for key, keyed in self._keyed.items()}

    @property
    def known(self) -> int:
        """The number of files, directories and hosts with known names or paths."""
        return max(part.counter.known for part in self._parts)

    def update(self, batches: list[pa.RecordBatch]) -> None:
        """Take operations, in about the order of their replies."""
        for batch in (each.select(self.columns) for each in batches if len(each)):
            self.operations += len(batch)
            self._span(batch)
            for part in self._parts:
                part.counter.update(batch)
                if self._reach is None:
                    part.see()

    def finish(self) -> None:
        """Make all counts visible, even of periods that have not passed."""
        for part in self._parts:
            part.counter.finish()
            part.see()

    def look_at(self, since: int, until: int, keys: Sequence[TopKey] = KEYS) -> None:
        """Show the whole seconds from ``since`` to ``until``, µs; both are rounded down.

        Other keys keep their previous window until caught up.
        """
        assert self._reach is not None
        now = Window(since // SECOND * SECOND, until // SECOND * SECOND, self._reach)
        self._total.look_at(now)
        for key in keys:
            self._keyed[key].look_at(now)

    def catch_up(self, until: int) -> None:
        """Do the background work due at a time, µs.

        It catches up the view that lags most (one per call, as each is slow), so that nobody waits
        for it later and counts do not pile up. It also evicts surplus values.
        """
        if self.behind(until):
            last = min(self._parts, key=lambda each: each.window.until)
            last.look_at(last.window.moved(until))
        for part in self._parts:
            part.forget()

    def behind(self, until: int) -> int:
        """Return the number of views to catch up."""
        return sum(each.window.until < until - BROUGHT for each in self._parts)

    def recent(self, order: Ranked, count: int, keys: Sequence[TopKey] = KEYS) -> Snapshot:
        """Return the counts of the current window."""
        window = self._total.window
        assert all(self._keyed[key].window == window for key in keys)
        seen = Snapshot(window.since, window.until, _total(self._total.recent()))
        for key, keyed in self._own(keys):
            seen.rows[key] = _busiest(key, keyed, keyed.recent, order, count)
            seen.evicted[key] = Evicted(paths=keyed.evicted.paths)
        return seen

    def whole(self, order: Ranked, count: int, keys: Sequence[TopKey] = KEYS) -> Snapshot:
        """Return the counts from the first operation to the last."""
        seen = Snapshot(self.first or 0, self.last or 0, _total(self._total.whole()))
        for key, keyed in self._own(keys):
            seen.rows[key] = _busiest(key, keyed, keyed.whole, order, count)
            seen.evicted[key] = replace(keyed.evicted)
        return seen

    def _own(self, keys: Sequence[TopKey]) -> list[tuple[TopKey, Keyed]]:
        return [(key, self._keyed[key]) for key in keys]

    def _span(self, batch: pa.RecordBatch) -> None:
        called = pc.min_max(batch["time"].cast(pa.int64())).as_py()
        answered = pc.max(batch["reply_time"].cast(pa.int64())).as_py()
        last = max(called["max"], answered or 0)
        self.first = called["min"] if self.first is None else min(self.first, called["min"])
        self.last = last if self.last is None else max(self.last, last)


def _total(rows: pa.RecordBatch) -> Row:
    if not rows.num_rows:
        return Row(None)
    (found,) = rows.to_pylist()
    sums = ("ops", "errors", "unanswered", "bytes_read", "bytes_written")
    latencies = ("latency_mean", "latency_p99")
    return Row(None, **{name: found[name] for name in (*sums, *latencies)})


def _busiest(key: TopKey, keyed: Keyed, which: Sums, order: Ranked, count: int) -> list[Row]:
    """Return the rows with the largest values, then the most operations."""
    sums = which.first(len(keyed.names))
    by, ops = _ranks(sums, order), sums[:, _AT["ops"]]
    shown = _informative(keyed, ops) if key == "directory" else ops > 0
    found = np.flatnonzero(shown)
    if len(found) > count:
        least = np.partition(by[found], -count)[-count]
        found = found[by[found] >= least]
    ordered = sorted(found.tolist(), key=lambda at: (-by[at], -ops[at], _sortable(keyed.names[at])))
    return [_row(keyed.names[at], sums[at]) for at in ordered[:count]]


def _ranks(sums: Ints, order: Ranked) -> Floats:
    column = {name: sums[:, at].astype(np.float64) for name, at in _AT.items()}
    match order:
        case "bytes":
            return column["bytes_read"] + column["bytes_written"]
        case "read" | "written":
            return column[f"bytes_{order}"]
        case "latency":
            answered = column["answered"]
            mean = column["latency_sum"] / np.maximum(answered, 1)
            return np.where(answered >= LEAST_REPLIES, mean, mean * 1e-12)
        case _:
            return column[order]


def _sortable(name: str | int | None) -> tuple[int, str]:
    return (name, "") if isinstance(name, int) else (-1, name or "")


def _informative(keyed: Keyed, ops: Ints) -> Bools:
    """Return directories to show: those where no child has most of their operations."""
    child = np.zeros(len(ops), np.int64)
    parents = np.array([keyed.parent(at) for at in range(len(ops))], np.int64)
    below = np.flatnonzero(parents >= 0)
    np.maximum.at(child, parents[below], ops[below])
    return child < HIDES * ops


def _row(name: str | int | None, sums: Ints) -> Row:
    own = dict(zip(FIGURES, sums.tolist(), strict=False))
    ops = sums[len(FIGURES) :]
    answered, latency = own.pop("answered"), own.pop("latency_sum")
    mean = latency / answered if answered else None
    return Row(name, **own, latency_mean=mean, mostly=WORDS[int(ops.argmax())])
