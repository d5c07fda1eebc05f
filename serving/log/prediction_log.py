"""Every prediction served, kept for an audit to compare with what became of the files.

A request does no more than leave what it was asked and what answered it in a queue of bounded size.
A thread works out the rows and writes them as Parquet (``data.prediction_log``), a file at a
time and each whole. What it cannot keep up with, or cannot write, is dropped and counted: the
requests are served all the same.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pyarrow as pa

from birthmark.data.anonymize import MappingError
from birthmark.data.prediction_log import ANSWER, PREDICTIONS, SAID
from birthmark.data.schema import TIME
from birthmark.serving.log.files import LogWriter
from birthmark.serving.log.service_log import Quoting
from birthmark.serving.settings import Settings

log = logging.getLogger(__name__)

_DEFAULTS = Settings()

Outcome = Literal["written", "dropped", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("written", "dropped", "failed")
"""What becomes of rows: in a file; not taken, since the log is behind; or lost to an error."""

QUEUE_BYTES = 64 * 1024 * 1024
"""How much may wait to be worked out, by the sizes of the requests."""

BATCH_ROWS = 10_000
"""How many rows are worked out together, unless one request has more."""

MOMENT = 0.1
"""How long requests are let come together, seconds."""

OVERHEAD = 1024
"""Bytes that a waiting request counts for besides its own size."""


@dataclass(frozen=True)
class Served:
    """What was asked (columns of ``features.CREATES``), and what was answered, by predicate.

    ``said`` are the three answers.
    """

    creates: pa.Table
    answers: Mapping[str, pa.BooleanArray]
    model: str
    kind: str
    point: str
    said: Mapping[str, pa.StringArray] = field(default_factory=dict)

    def table(self, answered: pa.Array) -> pa.Table:
        """Return its rows as the log has them, of which each was ``answered`` then."""
        rows = len(self.creates)
        told = {name: self.creates[name] for name in self.creates.column_names}
        told |= {"create_time": told.get("time", pa.nulls(rows)), "time": answered}
        for name in ("model", "kind", "point"):
            told[name] = pa.repeat(getattr(self, name), rows)
        fixed = [told.get(f.name, pa.nulls(rows)).cast(f.type) for f in PREDICTIONS]
        named = [pa.field(ANSWER + key, pa.bool_()) for key in self.answers]
        named += [pa.field(SAID + key, pa.utf8()) for key in self.said]
        columns = [*fixed, *self.answers.values(), *self.said.values()]
        return pa.Table.from_arrays(columns, schema=pa.schema([*PREDICTIONS, *named]))


Resolve = Callable[[Sequence[Any]], Served]
"""Works out what was asked by several requests, in their order, and what each was answered."""


class _Waiting(NamedTuple):
    resolve: Resolve
    asked: Any
    rows: int
    size: int
    time: float


def _together(waiting: Sequence[_Waiting]) -> Iterator[list[_Waiting]]:
    """Yield requests that can be worked out as one: by the same ``resolve``, not too many rows."""
    group: list[_Waiting] = []
    rows = 0
    for each in waiting:
        if group and (rows + each.rows > BATCH_ROWS or group[0].resolve != each.resolve):
            yield group
            group, rows = [], 0
        group.append(each)
        rows += each.rows
    if group:
        yield group


def _table(group: Sequence[_Waiting]) -> pa.Table:
    served = group[0].resolve([each.asked for each in group])
    rows = [each.rows for each in group]
    if len(served.creates) != sum(rows):
        raise ValueError(f"expected {sum(rows)} rows, worked out {len(served.creates)}")
    times = np.repeat([round(each.time * 1e6) for each in group], rows)
    return served.table(pa.array(times, pa.int64()).cast(TIME))


class PredictionLog:
    """The log at ``directory``, of a ``share`` (0 to 1) of all requests.

    One process has one; ``start`` begins its thread and ``close`` ends it, once what waits is
    written. Files are ended after so many ``rows`` or ``seconds``, and kept for ``days``; with a
    ``mapping`` file they are anonymized by it (``data.anonymize``). ``tell`` is called with each
    outcome and of how many rows it is, by any thread.
    """

    def __init__(
        self,
        directory: Path,
        share: float = _DEFAULTS.log_share,
        mapping: Path | None = None,
        rows: int = 100_000,
        seconds: float = 60 * _DEFAULTS.log_minutes,
        days: int = _DEFAULTS.log_days,
        tell: Callable[[Outcome, int], object] = lambda outcome, rows: None,
    ) -> None:
        self.share = share
        self._tell = tell
        self._writer = LogWriter(directory, mapping, rows, seconds, days)
        self._waiting: deque[_Waiting] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._ending = False
        self._said: set[tuple[type, int | None]] = set()
        self._thread = threading.Thread(target=self._work, name="prediction-log", daemon=True)

    def start(self) -> None:
        """Begin to write."""
        self._thread.start()

    def close(self) -> None:
        """Write what waits, and end."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def sampled(self) -> bool:
        """Tell, by chance, whether a request is of the share to be logged."""
        return self.share >= 1 or random.random() < self.share

    def offer(self, resolve: Resolve, asked: Any, rows: int, size: int) -> None:
        """Let ``resolve`` work out a request's ``rows`` from ``asked`` later, on the log's thread.

        It is given all that waits for the same ``resolve``, as a list. ``size`` is about how many
        bytes are kept until then. Where too much waits, the rows are dropped.
        """
        size += OVERHEAD
        with self._changed:
            if self._ending or self._bytes + size > QUEUE_BYTES:
                self._count("dropped", rows)
                return
            self._bytes += size
            self._waiting.append(_Waiting(resolve, asked, rows, size, time.time()))

    def _count(self, outcome: Outcome, rows: int) -> None:
        if rows:
            self._tell(outcome, rows)

    def _work(self) -> None:
        while (taken := self._take()) is not None:
            for group in _together(taken):
                rows = sum(each.rows for each in group)
                self._attempt(partial(self._add, group), rows)
            self._attempt(self._writer.end_if_old, 0)
        self._attempt(self._writer.end, 0)

    def _add(self, group: Sequence[_Waiting]) -> None:
        self._writer.add(_table(group))

    def _take(self) -> list[_Waiting] | None:
        """Return what has come in a moment; None at the end.

        Nothing wakes the thread but time, so that requests need not wake it.
        """
        with self._changed:
            if not self._ending:
                self._changed.wait(MOMENT)
            taken = list(self._waiting)
            self._waiting.clear()
            self._bytes -= sum(each.size for each in taken)
            return None if self._ending and not taken else taken

    def _attempt(self, work: Callable[[], object], rows: int) -> None:
        """Do what may write a file; count what came of it, and tell of each kind of trouble once.

        Once a file is written, the same trouble is told again.
        """
        trouble: Exception | None = None
        try:
            work()
        # Whatever is wrong with the log, the service goes on.
        except Exception as error:
            trouble = error
        written, lost = self._writer.take_counts()
        if trouble is not None and not lost:
            lost = rows  # it did not come as far as the writer
        with self._changed:
            self._count("written", written)
            self._count("failed", lost)
        if written:
            self._said.clear()
        if trouble is not None and (kind := _kind(trouble)) not in self._said:
            self._said.add(kind)
            # Those of files and mappings tell of the log's own; others may quote requests.
            told = trouble if isinstance(trouble, OSError | MappingError) else Quoting(trouble)
            log.error("predictions are served, but not logged: %s", told)


def _kind(trouble: Exception) -> tuple[type, int | None]:
    return type(trouble), getattr(trouble, "errno", None)
