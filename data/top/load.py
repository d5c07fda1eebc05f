"""What loads a server: operations counted by a scan's own counters, and who made most of them."""

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
    Forgotten,
    Keyed,
    Stretch,
    Sums,
    Total,
)
from birthmark_native import ScanCounter

KEYS: tuple[TopKey, ...] = get_args(TopKey)
HIDES = 0.9
"""A directory is left out where one below it has at least this share of its operations."""

BROUGHT = 5 * SECOND
"""What is not looked at is brought along when it is so far behind, in µs of the trace's time."""

MOST = 100_000
"""So many users, clients, directories and files are counted apart, live; see `Keyed`."""

TELLING = 10
"""Ranked by latency, those with fewer replies come behind the others: they say little."""

_AT = {name: at for at, name in enumerate(FIGURES)}


@dataclass(frozen=True)
class Row:
    """What one of a kind did, or all did together.

    Attributes:
        name: a user's number, a client's address, or a path; None: no user was named.
        ops, errors, unanswered, bytes_read, bytes_written: as in a scan's table.
        latency_mean: mean time from call to reply, µs; None: no reply.
        latency_p99: what 99% did not exceed, µs, as in a scan's table; None: not known.
        mostly: the operation that there were most of; empty: none.
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
class Seen:
    """What was counted in a stretch of time.

    Attributes:
        since, until: when it begins and ends, µs since the epoch.
        total: all together.
        rows: by key, the busiest, in their order.
        forgotten: by key, what is not known any more.
    """

    since: int
    until: int
    total: Row
    rows: dict[TopKey, list[Row]] = field(default_factory=dict)
    forgotten: dict[TopKey, Forgotten] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        """How long it is."""
        return (self.until - self.since) / SECOND


class Load:
    """Counts operations for each key, by the counters of `birthmark scan`.

    Live, they are counted by the second in which they were called, and what was counted is seen at
    once, under the paths that are known by then; for a minute it follows those that come to be
    known, so that in the end it is what a scan in periods of a second counts. Else periods are
    those that were asked for, and are seen when they have passed.

    Attributes:
        columns: the columns of the operations table that it needs.
        operations: how many were taken.
        first, last: when the first was called, and when the last was called or answered, µs since
            the epoch; None: there was none.
    """

    def __init__(
        self,
        only: Counting | None = None,
        reach: int | None = None,
        most: int = MOST,
    ) -> None:
        """Count operations of the clients, users and groups of ``only``.

        Live, it may be looked back for ``reach`` µs; None: not live. Of more than ``most`` of a
        kind, those that did least since the start are then forgotten.
        """
        asked = Plan.of(only or Counting())
        period = asked.period if reach is None else SECOND
        stretch = NEVER if reach is None else Stretch(0, 0, reach)

        def counter(by: list[str], ops: Sequence[str]) -> ScanCounter:
            return Plan(period, by, ops, asked.clients, asked.uids, asked.gids).counter(files=False)

        self._total = Total(counter([], []), stretch)
        self._keyed: dict[TopKey, Keyed] = {
            key: Keyed(words.key(key), counter([words.key(key)], APART), stretch, most)
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
        """How many of each kind are counted apart."""
        return {key: len(keyed.names) for key, keyed in self._keyed.items()}

    @property
    def known(self) -> int:
        """Of how many files and directories more is known than a number."""
        return max(keyed.counter.known for keyed in self._keyed.values())

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
        """See all that was counted, whether or not its period has passed."""
        for part in self._parts:
            part.counter.finish()
            part.see()

    def look_at(self, since: int, until: int, keys: Sequence[TopKey] = KEYS) -> None:
        """Look at the whole seconds from ``since`` to ``until``, µs; both are rounded down.

        Of other keys the last is still looked at, until they are brought along.
        """
        assert self._reach is not None
        now = Stretch(since // SECOND * SECOND, until // SECOND * SECOND, self._reach)
        self._total.look_at(now)
        for key in keys:
            self._keyed[key].look_at(now)

    def rest(self, until: int) -> None:
        """Do what no picture needs to wait for, up to a time, µs.

        What is furthest behind it is brought along, if it is far: one of them, as all take long. So
        nobody waits for it when it is asked for, and what was counted does not pile up. What is too
        much is forgotten.
        """
        if self.behind(until):
            last = min(self._parts, key=lambda each: each.stretch.until)
            last.look_at(last.stretch.moved(until))
        for keyed in self._keyed.values():
            keyed.forget()

    def behind(self, until: int) -> int:
        """Return how many are to be brought along."""
        return sum(each.stretch.until < until - BROUGHT for each in self._parts)

    def recent(self, order: Ranked, count: int, keys: Sequence[TopKey] = KEYS) -> Seen:
        """Return what was counted in the stretch that is looked at."""
        stretch = self._total.stretch
        assert all(self._keyed[key].stretch == stretch for key in keys)
        seen = Seen(stretch.since, stretch.until, _total(self._total.recent()))
        for key, keyed in self._own(keys):
            seen.rows[key] = _busiest(key, keyed, keyed.recent, order, count)
            seen.forgotten[key] = Forgotten(paths=keyed.forgotten.paths)
        return seen

    def whole(self, order: Ranked, count: int, keys: Sequence[TopKey] = KEYS) -> Seen:
        """Return what was seen from the first operation to the last."""
        seen = Seen(self.first or 0, self.last or 0, _total(self._total.whole()))
        for key, keyed in self._own(keys):
            seen.rows[key] = _busiest(key, keyed, keyed.whole, order, count)
            seen.forgotten[key] = replace(keyed.forgotten)
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
    """Return the rows that have most of something, and then most operations."""
    sums = which.first(len(keyed.names))
    by, ops = _ranks(sums, order), sums[:, _AT["ops"]]
    told = _say_more(keyed, ops) if key == "directory" else ops > 0
    found = np.flatnonzero(told)
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
            return np.where(answered >= TELLING, mean, mean * 1e-12)
        case _:
            return column[order]


def _sortable(name: str | int | None) -> tuple[int, str]:
    return (name, "") if isinstance(name, int) else (-1, name or "")


def _say_more(keyed: Keyed, ops: Ints) -> Bools:
    """Tell which directories say more than one below: in it is less than most of what they do."""
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
