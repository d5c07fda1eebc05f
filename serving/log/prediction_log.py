"""The log of predictions served, which an audit compares with the files' lives.

A request only puts its input and answers into a queue of bounded size. A thread makes them into
rows and writes these as Parquet (``data.prediction_log``), one complete file at a time. Rows that
it cannot keep up with, or cannot write, are dropped and counted; the requests are served anyway.
"""

from __future__ import annotations

import logging
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
import pyarrow.compute as pc

from birthmark.data.anonymize import MappingError
from birthmark.data.prediction_log import ANSWER, PREDICTIONS, SAID
from birthmark.data.schema import TIME
from birthmark.predictor.answers.certainty import WORDS
from birthmark.serving.log.files import LogWriter
from birthmark.serving.log.service_log import Quoting
from birthmark.serving.models.images import ImageModel
from birthmark.serving.settings import Settings
from birthmark_native import HINTS, requested

log = logging.getLogger(__name__)

_DEFAULTS = Settings()

Outcome = Literal["written", "dropped", "failed"]
OUTCOMES: tuple[Outcome, ...] = ("written", "dropped", "failed")
"""Outcomes of rows: written to a file, dropped because the log is behind, or lost to an error."""

QUEUE_BYTES = 64 * 1024 * 1024
"""The size of the queue, by the sizes of the requests."""

BATCH_ROWS = 10_000
"""The most rows resolved together, unless one request has more."""

WRITE_INTERVAL = 0.1
"""The interval, seconds, at which the thread takes the pending requests."""

OVERHEAD = 1024
"""Bytes that a pending request counts beside its size."""


@dataclass(frozen=True)
class Served:
    """Creates (columns of ``features.CREATES``) and their answers by predicate.

    ``three_way`` has yes, no or unsure by predicate.
    """

    creates: pa.Table
    answers: Mapping[str, pa.BooleanArray]
    model: str
    kind: str
    point: str
    three_way: Mapping[str, pa.StringArray] = field(default_factory=dict)

    def table(self, answered: pa.Array) -> pa.Table:
        """Return the rows of the log, given the time at which each was ``answered``."""
        rows = len(self.creates)
        columns = {name: self.creates[name] for name in self.creates.column_names}
        columns |= {"create_time": columns.get("time", pa.nulls(rows)), "time": answered}
        for name in ("model", "kind", "point"):
            columns[name] = pa.repeat(getattr(self, name), rows)
        fixed = [columns.get(f.name, pa.nulls(rows)).cast(f.type) for f in PREDICTIONS]
        named = [pa.field(ANSWER + key, pa.bool_()) for key in self.answers]
        named += [pa.field(SAID + key, pa.utf8()) for key in self.three_way]
        arrays = [*fixed, *self.answers.values(), *self.three_way.values()]
        return pa.Table.from_arrays(arrays, schema=pa.schema([*PREDICTIONS, *named]))


Resolve = Callable[[Sequence[Any]], Served]
"""Returns the creates of several requests, in their order, with their answers."""


class _Pending(NamedTuple):
    resolve: Resolve
    request: Any
    rows: int
    size: int
    time: float


def _grouped(pending: Sequence[_Pending]) -> Iterator[list[_Pending]]:
    """Yield groups of requests with the same ``resolve`` and at most `BATCH_ROWS` rows."""
    group: list[_Pending] = []
    rows = 0
    for each in pending:
        if group and (rows + each.rows > BATCH_ROWS or group[0].resolve != each.resolve):
            yield group
            group, rows = [], 0
        group.append(each)
        rows += each.rows
    if group:
        yield group


def _table(group: Sequence[_Pending]) -> pa.Table:
    served = group[0].resolve([each.request for each in group])
    rows = [each.rows for each in group]
    if len(served.creates) != sum(rows):
        raise ValueError(f"expected {sum(rows)} rows, resolved {len(served.creates)}")
    times = np.repeat([round(each.time * 1e6) for each in group], rows)
    return served.table(pa.array(times, pa.int64()).cast(TIME))


class PredictionLog:
    """The log at ``directory``.

    A process has one. ``start`` begins its thread; ``close`` writes the pending rows and ends it.
    Files are ended after ``rows`` or ``seconds``, and kept for ``days``; a ``mapping`` file
    anonymizes them (``data.anonymize``). ``tell`` is called with an outcome and its number of rows,
    by any thread.
    """

    def __init__(
        self,
        directory: Path,
        mapping: Path | None = None,
        rows: int = 100_000,
        seconds: float = 60 * _DEFAULTS.log_minutes,
        days: int = _DEFAULTS.log_days,
        tell: Callable[[Outcome, int], object] = lambda outcome, rows: None,
    ) -> None:
        self._count_rows = tell
        self._writer = LogWriter(directory, mapping, rows, seconds, days)
        self._pending: deque[_Pending] = deque()
        self._bytes = 0
        self._changed = threading.Condition()
        self._ending = False
        self._reported: set[tuple[type, int | None]] = set()
        self._thread = threading.Thread(target=self._work, name="prediction-log", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def close(self) -> None:
        """Write the pending rows, and end the thread."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        if self._thread.ident is not None:
            self._thread.join()

    def offer(
        self, resolve: Resolve, request: Any, rows: int, size: int, at: float | None = None
    ) -> None:
        """Queue a request, whose ``rows`` ``resolve`` makes later in the log's thread.

        ``resolve`` gets a list of pending requests. ``size`` is its approximate memory, bytes.
        It was answered ``at`` a time, or now. If the queue is full, the rows are dropped.
        """
        size += OVERHEAD
        with self._changed:
            if self._ending or self._bytes + size > QUEUE_BYTES:
                self._count("dropped", rows)
                return
            self._bytes += size
            at = time.time() if at is None else at
            self._pending.append(_Pending(resolve, request, rows, size, at))

    def drop(self, rows: int) -> None:
        """Count rows that were dropped before they came here."""
        with self._changed:
            self._count("dropped", rows)

    def _count(self, outcome: Outcome, rows: int) -> None:
        if rows:
            self._count_rows(outcome, rows)

    def _work(self) -> None:
        while (batch := self._take_pending()) is not None:
            for group in _grouped(batch):
                rows = sum(each.rows for each in group)
                self._attempt(partial(self._add, group), rows)
            self._attempt(self._writer.end_if_old, 0)
        self._attempt(self._writer.end, 0)

    def _add(self, group: Sequence[_Pending]) -> None:
        self._writer.add(_table(group))

    def _take_pending(self) -> list[_Pending] | None:
        """Return the pending requests after `WRITE_INTERVAL`; None at the end.

        Only the timeout wakes the thread, as waking it costs requests time.
        """
        with self._changed:
            if not self._ending:
                self._changed.wait(WRITE_INTERVAL)
            batch = list(self._pending)
            self._pending.clear()
            self._bytes -= sum(each.size for each in batch)
            return None if self._ending and not batch else batch

    def _attempt(self, work: Callable[[], object], rows: int) -> None:
        """Do work that may write a file; count its rows, and log each kind of error once.

        Once a file is written, the same error is logged again.
        """
        failure: Exception | None = None
        try:
            work()
        # Whatever is wrong with the log, the service keeps running.
        except Exception as error:
            failure = error
        written, lost = self._writer.take_counts()
        if failure is not None and not lost:
            lost = rows  # it failed before the writer
        with self._changed:
            self._count("written", written)
            self._count("failed", lost)
        if written:
            self._reported.clear()
        if failure is not None and (kind := _kind(failure)) not in self._reported:
            self._reported.add(kind)
            # Errors of files and mappings do not quote requests; others may.
            message = failure if isinstance(failure, OSError | MappingError) else Quoting(failure)
            log.error("predictions are served but not logged: %s", message)


def _kind(failure: Exception) -> tuple[type, int | None]:
    return type(failure), getattr(failure, "errno", None)


HINTED = "hints"
"""The operating point of hints in the log: they have separate thresholds, without a bound."""


class Resolver:
    """Resolves the requests to one model, by their format."""

    def __init__(self, model: ImageModel) -> None:
        self.model = model

    def json(self, requests: Sequence[tuple[bytes, bytes]]) -> Served:
        """Resolve JSON bodies of files, each with its answers (of `Answerer.json`)."""
        return self._files(requests, "json")

    def arrow(self, requests: Sequence[tuple[bytes, bytes]]) -> Served:
        """Resolve Arrow streams of files, each with its answers."""
        return self._files(requests, "arrow")

    def _files(
        self, requests: Sequence[tuple[bytes, bytes]], format: Literal["json", "arrow"]
    ) -> Served:
        creates = pa.Table.from_batches([requested([body for body, _ in requests], format)])
        model = self.model
        keys = model.answerer.predicates
        answers = np.frombuffer(b"".join(answers for _, answers in requests), np.uint8)
        columns = answers.reshape(-1, len(keys)).T
        yes = {key: pa.array(of_key & 1 != 0) for key, of_key in zip(keys, columns, strict=True)}
        words = pa.array(WORDS)
        three_way = {
            key: words.take(pa.array(of_key >> 1))
            for key, of_key in zip(keys, columns, strict=True)
        }
        return Served(creates, yes, model.version, model.kind, model.point, three_way)

    def hints(self, requests: Sequence[tuple[bytes, int]]) -> Served:
        """Resolve bodies of one create each, with their verdicts.

        Hints that do not apply (to a directory, or to anything else) are null.
        """
        creates = requested([body for body, _ in requests], "hint")
        of_directory = creates["is_directory"]
        verdicts = pa.array([verdict for _, verdict in requests], pa.uint8())
        answers = {}
        for hint in HINTS:
            is_yes = pc.not_equal(pc.bit_wise_and(verdicts, pa.scalar(hint.bit, pa.uint8())), 0)
            applies = pc.equal(of_directory, hint.of_directory)
            answers[hint.key] = pc.if_else(applies, is_yes, None)
        table = pa.Table.from_batches([creates])
        return Served(table, answers, self.model.version, self.model.kind, HINTED)
