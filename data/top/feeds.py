"""Sources of operations for `birthmark top`: live traffic, or a trace at its own pace."""

from __future__ import annotations

import fcntl
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data import generated
from birthmark.data.common.arrays import Ints
from birthmark.data.common.durations import SECOND
from birthmark.data.ingest.run import error_context
from birthmark.data.scan.sources import Source
from birthmark.data.traces import unread
from birthmark.data.traces.reader import marks_of
from birthmark_native import FollowedPiece
from birthmark_native import Follower as NativeFollower

GATHER = 0.5
"""Seconds during which operations are gathered, since each piece has a fixed cost."""

QUIET = 1.0
"""Seconds without traffic after which the trace's time advances with the host's."""

UNENDING = 1 << 62

PIPE = 1 << 20
"""The buffer size of a pipe: large, so its writer seldom waits and it is read in fewer turns."""


@dataclass
class Lost:
    """Known omissions from the counts.

    Attributes:
        packets: dropped by the capturing kernel, according to the capture.
        gaps: times in which calls were lost.
        damaged: damaged records.
        files: files skipped, or overwritten before they were read.
        unread: the unreadable part of captures (`data.traces.unread.sentence`).
    """

    packets: int = 0
    gaps: int = 0
    damaged: int = 0
    files: int = 0
    unread: str | None = None

    def __post_init__(self) -> None:
        self._captures: list[dict[str, Any]] = []

    def add(self, counts: dict[str, Any]) -> None:
        """Add the counts of a whole trace."""
        self.packets += counts.get("capture", {}).get("dropped", 0)
        self.damaged += sum(counts.get("damaged", {}).values())
        self._captures.append(counts.get("capture", {}))
        self.unread = unread.sentence(unread.total(self._captures))


class Feed(Protocol):
    """Gives operations as time passes.

    Attributes:
        lost: known omissions.
        generated: the marks of generated data (`data.generated`).
        ended: whether nothing more will come.
        live: whether the traffic happens now, so that its delay has a meaning.
    """

    lost: Lost
    generated: list[generated.Mark]
    ended: bool
    live: bool

    def poll(self) -> list[pa.RecordBatch]:
        """Return operations since the last call, without waiting."""

    @property
    def clock(self) -> int | None:
        """The trace's time, µs since the epoch; None: no operation yet."""

    def close(self) -> None:
        """Stop."""


class Traffic:
    """Traffic as it comes: from ``-``, a pipe, a growing file or a folder of such files.

    Raises:
        OSError: it cannot be opened, or read.
        ValueError: a pipe holds no trace.
    """

    live = True

    def __init__(self, source: str) -> None:
        self.lost, self.generated, self.ended = Lost(), list[generated.Mark](), False
        self._source = source
        if source == "-" and hasattr(fcntl, "F_SETPIPE_SZ"):  # Linux has it
            with suppress(OSError):  # it is no pipe, or the system lets it hold no more
                fcntl.fcntl(0, fcntl.F_SETPIPE_SZ, PIPE)
        self._native = NativeFollower(source, UNENDING, None, None, GATHER)
        self._clock: int | None = None
        self._heard = time.monotonic()
        self._rows = self._refused = 0

    def poll(self) -> list[pa.RecordBatch]:
        """Return operations since the last call, without waiting."""
        batches: list[pa.RecordBatch] = []
        piece = None
        while not self.ended and (came := self._next()) is not None:
            piece = came
            self.ended = piece.ended
            self.lost.gaps += sum(map(len, piece.chunk.gaps))
            self._refused += len(piece.refused)
            self.lost.files = self._refused + piece.missed
            batches += (rows := [each for each in piece.chunk.operations if len(each)])
            if rows and not self._rows:
                mark = generated.in_operations(rows[0])
                self.generated = [mark] if mark else []
            self._rows += sum(map(len, rows))
            if piece.clock is not None and piece.clock != self._clock:
                self._clock, self._heard = piece.clock, time.monotonic()
        if piece is not None and batches:
            self._count(piece)
        return batches

    def _next(self) -> FollowedPiece | None:
        with error_context(self._source):
            return self._native.next_piece(0.0)

    def _count(self, piece: FollowedPiece) -> None:
        counts = piece.counts() or {}
        capture = counts.get("capture", {})
        self.lost.packets, self.lost.unread = capture.get("dropped", 0), unread.sentence(capture)
        self.lost.damaged = sum(counts.get("damaged", {}).values())

    @property
    def clock(self) -> int | None:
        """The trace's time: that of the last message, and the host's pace while none comes."""
        quiet = time.monotonic() - self._heard
        if self._clock is None or self.ended or quiet < QUIET:
            return self._clock
        return self._clock + round(quiet * SECOND)

    def close(self) -> None:
        """Stop."""
        self._native.stop()


class Played:
    """Traces played at their original speed, or ``pace`` times as fast."""

    live = False

    def __init__(self, traces: Sequence[str], columns: list[str], pace: float) -> None:
        self.lost, self.ended = Lost(), False
        self.generated = generated.distinct(m for each in traces for m in marks_of(each))
        self._batches = self._read(traces, columns)
        self._pace = pace
        self._began: float | None = None
        self._first = 0
        self._clock: int | None = None
        self._rest = next(self._batches, None)
        self._done = _done(self._rest)

    def _read(self, traces: Sequence[str], columns: list[str]) -> Iterator[pa.RecordBatch]:
        for path in traces:
            source = Source(path, columns)
            yield from (batch for batch in source if len(batch))
            self.lost.add(source.counts or {})

    def poll(self) -> list[pa.RecordBatch]:
        """Return the operations due since the last call."""
        batches: list[pa.RecordBatch] = []
        while self._rest is not None:
            due = int(np.searchsorted(self._done, self._now(), side="right"))
            batches += [self._rest.slice(0, due)] if due else []
            if due < len(self._rest):
                self._rest, self._done = self._rest.slice(due), self._done[due:]
                return batches
            before = self._done[-1]
            self._rest = next(self._batches, None)
            self._done = np.maximum(_done(self._rest), before)
        self.ended = True
        return batches

    def _now(self) -> int:
        if self._began is None:
            self._began, self._first = time.monotonic(), int(self._done[0])
        passed = (time.monotonic() - self._began) * self._pace
        self._clock = self._first + round(passed * SECOND)
        return self._clock

    @property
    def clock(self) -> int | None:
        """The trace's time of the operations returned so far."""
        return self._clock

    def close(self) -> None:
        """Stop."""
        self._batches.close()  # type: ignore[attr-defined]


def _done(batch: pa.RecordBatch | None) -> Ints:
    """Return when a batch's operations were complete, as far as their order shows, µs."""
    if batch is None:
        return np.zeros(0, np.int64)
    done = pc.coalesce(batch["reply_time"], batch["time"]).cast(pa.int64())
    return np.maximum.accumulate(np.asarray(done))
