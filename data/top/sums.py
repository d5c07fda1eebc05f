"""Counts of each client, user, directory or file, since the start and recently, and of all."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Ints
from birthmark.data.scan.tables import OTHER
from birthmark_native import ScanCounter, ScanMerger

FIGURES = ("ops", "errors", "unanswered", "answered", "bytes_read", "bytes_written", "latency_sum")
"""The columns that are summed, as in a scan's table; ``answered`` counts known latencies."""

APART = (
    *("read", "write", "lookup", "getattr", "setattr", "access", "create", "remove", "rename"),
    *("mkdir", "symlink", "readdir", "readdirplus", "readlink", "commit", "open", "close", "lock"),
)
"""Operations counted separately, to name a row's most frequent one; the rest are one."""

WORDS = (*APART, OTHER)
FOREVER = (1 << 63) - 1
_WORDS = pa.array(WORDS)
PATHS = 5
"""Paths remembered per value counted separately."""

Part = tuple[Ints, Ints]
"""Row numbers, each once, and the amounts added to each."""


class Sums:
    """Integer sums in rows, allocated on demand."""

    def __init__(self) -> None:
        self._values: Ints = np.zeros((64, len(FIGURES) + len(WORDS)), np.int64)

    def add(self, part: Part, sign: int = 1) -> None:
        """Add a part to its rows, or subtract it."""
        rows, values = part
        need = int(rows.max()) + 1
        if need > len(self._values):
            more = np.zeros((max(need, 2 * len(self._values)), self._values.shape[1]), np.int64)
            more[: len(self._values)] = self._values
            self._values = more
        self._values[rows] += sign * values

    def keep(self, rows: Ints) -> None:
        """Keep only these rows, renumbered from 0."""
        self._values = self.first(int(rows.max(initial=-1)) + 1)[rows]

    def first(self, count: int) -> Ints:
        """Return the first rows."""
        if count > len(self._values):
            self.add((np.array([count - 1]), np.zeros((1, self._values.shape[1]), np.int64)))
        return self._values[:count]


@dataclass(frozen=True)
class Window:
    """The whole seconds shown, and how far back a later window may begin.

    Times are in microseconds since the epoch; it ends before ``until``.
    """

    since: int
    until: int
    reach: int

    def holds(self, second: int) -> bool:
        """Return whether it holds a second."""
        return self.since <= second < self.until

    def moved(self, until: int) -> Window:
        """Return a window of the same length with another end."""
        return Window(until - (self.until - self.since), until, self.reach)

    def reaches(self, second: int) -> bool:
        """Return whether a later window may still hold a second."""
        return second >= self.until - self.reach


@dataclass
class Evicted:
    """Counts of a key that were dropped.

    Attributes:
        values: the number dropped; one that reappeared may be counted more than once.
        ops: the most operations that any of them had.
        paths: the number of files' paths dropped.
    """

    values: int = 0
    ops: int = 0
    paths: int = 0

    def add(self, ops: Ints) -> None:
        """Add dropped values, by their numbers of operations."""
        self.values += int(np.count_nonzero(ops))
        self.ops = max(self.ops, int(ops.max(initial=0)))


NEVER = Window(FOREVER, FOREVER, 0)
"""The window if no part of the time is shown separately."""


class Keyed:
    """The counts of each value of one key.

    Attributes:
        counter: counts it.
        names: the values, in the order of the rows.
        whole: sums since the start.
        recent: sums of the window.
        window: the window shown.
        evicted: counts that were dropped.
    """

    def __init__(self, key: str, counter: ScanCounter, window: Window, most: int) -> None:
        """Count by a key. Beyond ``most`` values or files, some are evicted."""
        self.counter, self.window = counter, window
        self.names: list[str | int | None] = []
        self.whole, self.recent = Sums(), Sums()
        self.evicted = Evicted()
        self._key, self._most, self._full = key, most, most
        self._numbers: dict[str | int | None, int] = {}
        self._parents: list[int] = []
        self._seconds: dict[int, list[Part]] = {}

    def see(self) -> None:
        """Take the counter's finished rows."""
        for rows, sign in ((self.counter.take_back(), -1), (self.counter.take(), 1)):
            for second, (numbers, sums) in self._parts(rows):
                self._add(second, (numbers, sign * sums))

    def look_at(self, now: Window) -> None:
        """Take all counts, and show another window."""
        self.counter.show()
        self.see()
        was, self.window = self.window, now
        for second in sorted(self._seconds):
            if was.holds(second) != now.holds(second):
                for part in self._seconds[second]:
                    self.recent.add(part, 1 if now.holds(second) else -1)
            if not now.reaches(second):
                del self._seconds[second]

    def forget(self) -> None:
        """Evict surplus values; slow, but seldom necessary.

        It evicts the values with the least activity since the start, except those that a window may
        still show, and the paths of the least recently used files.
        """
        self.evicted.paths += self.counter.forget(PATHS * self._most)
        if len(self.names) > self._full:
            self._forget()
            self._full = max(self._most, 2 * len(self.names))

    def _add(self, second: int, part: Part) -> None:
        self.whole.add(part)
        if self.window.reaches(second):
            self._seconds.setdefault(second, []).append(part)
            if self.window.holds(second):
                self.recent.add(part)

    def _forget(self) -> None:
        whole = self.whole.first(len(self.names))
        keeps = np.zeros(len(whole), bool)
        few = max(self._most // (2 * len(FIGURES)), 1)
        for figure in whole[:, : len(FIGURES)].T:
            keeps[np.argpartition(figure, -few)[-few:]] = True
        keeps &= whole.any(axis=1)
        for numbers, _ in (part for parts in self._seconds.values() for part in parts):
            keeps[numbers] = True
        self.evicted.add(whole[~keeps, 0])
        rows = np.flatnonzero(keeps)
        self.whole.keep(rows)
        self.recent.keep(rows)
        self.names = [self.names[at] for at in rows.tolist()]
        self._numbers = {name: at for at, name in enumerate(self.names)}
        self._parents = []
        new = np.cumsum(keeps) - 1
        self._seconds = {
            second: [(new[numbers], sums) for numbers, sums in parts]
            for second, parts in self._seconds.items()
        }

    def parent(self, number: int) -> int:
        """Return the number of the parent directory; -1: it is at the top."""
        while len(self._parents) <= number:
            path = str(self.names[len(self._parents)])
            above = path.rpartition("/")[0] or ("/" if path[:1] == "/" != path else "")
            self._parents.append(self._numbers.get(above, -1))
        return self._parents[number]

    def _parts(self, rows: pa.RecordBatch) -> Iterator[tuple[int, Part]]:
        """Yield the increments of each second. Rows of one second and value follow each other."""
        if not rows.num_rows:
            return
        values = pc.dictionary_encode(rows[self._key], null_encoding="encode")
        codes = np.asarray(values.indices)
        times = np.asarray(rows["time"].cast(pa.int64()))
        begins = np.flatnonzero(
            np.r_[True, (np.diff(codes) != 0) | (np.diff(times) != 0)]  # of a second and a value
        )
        sums = np.zeros((len(begins), len(FIGURES) + len(WORDS)), np.int64)
        sums[:, : len(FIGURES)] = np.add.reduceat(_figures(rows), begins)
        group = np.repeat(np.arange(len(begins)), np.diff(np.r_[begins, len(codes)]))
        word = len(FIGURES) + np.asarray(pc.index_in(rows["op"], _WORDS))
        sums[group, word] = np.asarray(rows["ops"])
        numbers = np.array([self._number(name) for name in values.dictionary.to_pylist()])
        ids, times = numbers[codes[begins]], times[begins]
        edges = [0, *(np.flatnonzero(np.diff(times)) + 1).tolist(), len(times)]
        for first, last in pairwise(edges):
            yield int(times[first]), (ids[first:last], sums[first:last])

    def _number(self, name: str | int | None) -> int:
        found = self._numbers.get(name)
        if found is None:
            found = self._numbers[name] = len(self.names)
            self.names.append(name)
        return found


def _figures(rows: pa.RecordBatch) -> Ints:
    """Return the `FIGURES` of each row."""
    histograms = rows["latency"]
    counted = np.r_[0, np.cumsum(np.asarray(histograms.flatten().field("ops")).astype(np.int64))]
    ends = np.r_[0, np.cumsum(np.asarray(histograms.value_lengths()))]
    answered = np.diff(counted[ends])
    columns = [answered if each == "answered" else np.asarray(rows[each]) for each in FIGURES]
    return np.column_stack(columns).astype(np.int64)


class Total:
    """The counts of all together, with the histogram of the latencies.

    Attributes:
        counter: counts all operations together, without a key.
        window: the window shown.
    """

    def __init__(self, counter: ScanCounter, window: Window, most: int) -> None:
        """Count all. Beyond a multiple of ``most`` hosts, some are evicted."""
        self.counter, self.window = counter, window
        self._most = most
        self._whole: list[pa.RecordBatch] = []
        self._seconds: dict[int, list[pa.RecordBatch]] = {}

    def see(self) -> None:
        """Take the counter's finished rows."""
        rows = self.counter.take()
        if rows.num_rows:
            self._whole = [_merged([*self._whole, rows])]
        for at, second in enumerate(rows["time"].cast(pa.int64()).to_pylist()):
            if self.window.reaches(second):
                self._seconds.setdefault(second, []).append(rows.slice(at, 1))

    def look_at(self, now: Window) -> None:
        """Take all counts, and show another window."""
        self.counter.finish()
        self.see()
        self.window = now
        self._seconds = {at: rows for at, rows in self._seconds.items() if now.reaches(at)}

    def forget(self) -> None:
        """Evict surplus hosts, which no count shows."""
        self.counter.forget(PATHS * self._most)

    def whole(self) -> pa.RecordBatch:
        """Return one row since the start, or none."""
        return _merged(self._whole)

    def recent(self) -> pa.RecordBatch:
        """Return one row of the window, or none."""
        held = [rows for at, rows in self._seconds.items() if self.window.holds(at)]
        return _merged([each for rows in held for each in rows])


def _merged(rows: list[pa.RecordBatch]) -> pa.RecordBatch:
    merger = ScanMerger(FOREVER // 2, [], 0)
    for each in rows:
        merger.update(each)
    merger.close(FOREVER)
    return merger.take()
