"""What each client, user, directory or file did, since the start and of late, and all together."""

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
"""What is added up, as a scan's table has it; ``answered`` are those whose latency is known."""

APART = (
    *("read", "write", "lookup", "getattr", "setattr", "access", "create", "remove", "rename"),
    *("mkdir", "symlink", "readdir", "readdirplus", "readlink", "commit", "open", "close", "lock"),
)
"""Operations of which it is told which one a row has most of; the others are one."""

WORDS = (*APART, OTHER)
FOREVER = (1 << 63) - 1
_WORDS = pa.array(WORDS)
PATHS = 5
"""Of so many times as many files as are counted apart the paths are known."""

Part = tuple[Ints, Ints]
"""Numbers of rows, each once, and what is added to each."""


class Sums:
    """Whole numbers in rows, which are there as soon as they are needed."""

    def __init__(self) -> None:
        self._values: Ints = np.zeros((64, len(FIGURES) + len(WORDS)), np.int64)

    def add(self, part: Part, sign: int = 1) -> None:
        """Add a part to its rows, or take it away again."""
        rows, values = part
        need = int(rows.max()) + 1
        if need > len(self._values):
            more = np.zeros((max(need, 2 * len(self._values)), self._values.shape[1]), np.int64)
            more[: len(self._values)] = self._values
            self._values = more
        self._values[rows] += sign * values

    def keep(self, rows: Ints) -> None:
        """Forget all rows but these, which get the first numbers."""
        self._values = self.first(int(rows.max(initial=-1)) + 1)[rows]

    def first(self, count: int) -> Ints:
        """Return so many rows."""
        if count > len(self._values):
            self.add((np.array([count - 1]), np.zeros((1, self._values.shape[1]), np.int64)))
        return self._values[:count]


@dataclass(frozen=True)
class Stretch:
    """Which whole seconds are looked at, and how far back one may be looked at later.

    Times are in microseconds since the epoch; it ends before ``until``.
    """

    since: int
    until: int
    reach: int

    def holds(self, second: int) -> bool:
        """Return whether it holds a second."""
        return self.since <= second < self.until

    def moved(self, until: int) -> Stretch:
        """Return one as long, that ends at another time."""
        return Stretch(until - (self.until - self.since), until, self.reach)

    def reaches(self, second: int) -> bool:
        """Return whether a later one may still hold it."""
        return second >= self.until - self.reach


@dataclass
class Forgotten:
    """What of a key's values is not known any more.

    Attributes:
        values: how many were forgotten; one that came again may have been so more than once.
        ops: how many operations one of them had at the most.
        paths: how many files' paths were forgotten.
    """

    values: int = 0
    ops: int = 0
    paths: int = 0

    def add(self, ops: Ints) -> None:
        """Add values that are forgotten, of so many operations each."""
        self.values += int(np.count_nonzero(ops))
        self.ops = max(self.ops, int(ops.max(initial=0)))


NEVER = Stretch(FOREVER, FOREVER, 0)
"""What is looked at where no part of the time is looked at apart."""


class Keyed:
    """What each value of one key did.

    Attributes:
        counter: counts it.
        names: the values, in the order of the rows.
        whole: sums since the start, of what was seen.
        recent: sums of the stretch that is looked at.
        stretch: that stretch.
        forgotten: what is not known of the values any more.
    """

    def __init__(self, key: str, counter: ScanCounter, stretch: Stretch, most: int) -> None:
        """Count by a key. Of more than ``most`` values or files, some are forgotten."""
        self.counter, self.stretch = counter, stretch
        self.names: list[str | int | None] = []
        self.whole, self.recent = Sums(), Sums()
        self.forgotten = Forgotten()
        self._key, self._most, self._full = key, most, most
        self._numbers: dict[str | int | None, int] = {}
        self._parents: list[int] = []
        self._seconds: dict[int, list[Part]] = {}

    def see(self) -> None:
        """Take what the counter has ready."""
        for rows, sign in ((self.counter.take_back(), -1), (self.counter.take(), 1)):
            for second, (numbers, sums) in self._parts(rows):
                self._add(second, (numbers, sign * sums))

    def look_at(self, now: Stretch) -> None:
        """Take all that was counted, and look at another stretch."""
        self.counter.show()
        self.see()
        was, self.stretch = self.stretch, now
        for second in sorted(self._seconds):
            if was.holds(second) != now.holds(second):
                for part in self._seconds[second]:
                    self.recent.add(part, 1 if now.holds(second) else -1)
            if not now.reaches(second):
                del self._seconds[second]

    def forget(self) -> None:
        """Forget what is too much; this takes long, but seldom is anything.

        Of the values those that did least since the start go, but none of which something may
        still be looked at, and of files those that were not used for the longest.
        """
        self.forgotten.paths += self.counter.forget(PATHS * self._most)
        if len(self.names) > self._full:
            self._forget()
            self._full = max(self._most, 2 * len(self.names))

    def _add(self, second: int, part: Part) -> None:
        self.whole.add(part)
        if self.stretch.reaches(second):
            self._seconds.setdefault(second, []).append(part)
            if self.stretch.holds(second):
                self.recent.add(part)

    def _forget(self) -> None:
        whole = self.whole.first(len(self.names))
        kept = np.zeros(len(whole), bool)
        few = max(self._most // (2 * len(FIGURES)), 1)
        for figure in whole[:, : len(FIGURES)].T:
            kept[np.argpartition(figure, -few)[-few:]] = True
        kept &= whole.any(axis=1)
        for numbers, _ in (part for parts in self._seconds.values() for part in parts):
            kept[numbers] = True
        self.forgotten.add(whole[~kept, 0])
        rows = np.flatnonzero(kept)
        self.whole.keep(rows)
        self.recent.keep(rows)
        self.names = [self.names[at] for at in rows.tolist()]
        self._numbers = {name: at for at, name in enumerate(self.names)}
        self._parents = []
        new = np.cumsum(kept) - 1
        self._seconds = {
            second: [(new[numbers], sums) for numbers, sums in parts]
            for second, parts in self._seconds.items()
        }

    def parent(self, number: int) -> int:
        """Return the number of the directory that holds one; -1: it is at the top."""
        while len(self._parents) <= number:
            path = str(self.names[len(self._parents)])
            above = path.rpartition("/")[0] or ("/" if path[:1] == "/" != path else "")
            self._parents.append(self._numbers.get(above, -1))
        return self._parents[number]

    def _parts(self, rows: pa.RecordBatch) -> Iterator[tuple[int, Part]]:
        """Yield what came of each second. Rows of one second and value follow each other."""
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
    """What all did together, with the histogram of the latencies.

    Attributes:
        counter: counts it, for no key and all operations together.
        stretch: the stretch that is looked at.
    """

    def __init__(self, counter: ScanCounter, stretch: Stretch) -> None:
        self.counter, self.stretch = counter, stretch
        self._whole: list[pa.RecordBatch] = []
        self._seconds: dict[int, list[pa.RecordBatch]] = {}

    def see(self) -> None:
        """Take what the counter has ready."""
        rows = self.counter.take()
        if rows.num_rows:
            self._whole = [_merged([*self._whole, rows])]
        for at, second in enumerate(rows["time"].cast(pa.int64()).to_pylist()):
            if self.stretch.reaches(second):
                self._seconds.setdefault(second, []).append(rows.slice(at, 1))

    def look_at(self, now: Stretch) -> None:
        """Take all that was counted, and look at another stretch."""
        self.counter.finish()
        self.see()
        self.stretch = now
        self._seconds = {at: rows for at, rows in self._seconds.items() if now.reaches(at)}

    def whole(self) -> pa.RecordBatch:
        """Return a row of all that was seen, or none."""
        return _merged(self._whole)

    def recent(self) -> pa.RecordBatch:
        """Return a row of the stretch, or none."""
        held = [rows for at, rows in self._seconds.items() if self.stretch.holds(at)]
        return _merged([each for rows in held for each in rows])


def _merged(rows: list[pa.RecordBatch]) -> pa.RecordBatch:
    merger = ScanMerger(FOREVER // 2, [], 0)
    for each in rows:
        merger.update(each)
    merger.close(FOREVER)
    return merger.take()
