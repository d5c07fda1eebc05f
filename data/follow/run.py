"""Traffic into hourly datasets while it happens: decode, join, follow lives, write."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from birthmark.data.common import durable
from birthmark.data.follow import hour, state
from birthmark.data.follow.hour import Hour
from birthmark.data.follow.mirror import EARLIER, Heed, Mirror
from birthmark.data.follow.state import State, Warm
from birthmark.data.follow.status import Status
from birthmark.data.ingest.lives import Lives, OnOperations, take_finished, take_rest, update
from birthmark.data.ingest.run import error_context
from birthmark.data.settings import Following
from birthmark.data.traces.reader import Chunk
from birthmark_native import FollowedPiece, HistoryKeeper, LiveHistory, LivesBuilder
from birthmark_native import Follower as NativeFollower
from birthmark_native.results import Damaged

WAIT = 0.2
"""Seconds to wait for a piece before signals and ticks are checked."""

QUIET = 60.0
"""Seconds without traffic after which an hour that is over by the host's clock ends."""

MOST_UNDATED = 10_000
"""The most damaged records that wait for a time that assigns them to an hour."""

Histories = tuple[HistoryKeeper, HistoryKeeper]

log = logging.getLogger(__name__)


def follow(
    source: str | Path,
    out: str | Path,
    settings: Following | None = None,
    on_operations: OnOperations | None = None,
    tick: Callable[[Status], None] | None = None,
) -> Status:
    """Follow a source until it ends, and write a dataset of each hour (see `data.follow.hour`).

    Args:
        source: ``-`` is standard input; a pipe; a folder in which a monitor begins a new file at
            intervals, or one growing file.
        out: the directory of the datasets; made if needed. One process at a time may follow into
            it.
        settings: how to follow.
        on_operations: called with each batch of operations as soon as it arrives.
        tick: called at least about every `WAIT` seconds; it may stop the `Follower`.

    Raises:
        OSError: the source cannot be read, or `out` cannot be written.
        ValueError: a pipe holds no trace, or the state in `out` is damaged.
    """
    with Follower(source, out, settings or Following(), on_operations) as follower:
        while follower.go_on():
            if tick:
                tick(follower.status)
    return follower.status


class Follower:
    """Follows one source into datasets. Use it as a context manager, and call `go_on` within.

    After an exception or a kill, the next follower continues from the last dataset
    (`data.follow.state`). If the settings name a live-history file, the follower maintains it
    (`data.follow.mirror`) and calls ``heed`` with each update. Without an earlier follower's state
    it begins with ``histories``, of files and of names.
    """

    def __init__(
        self,
        source: str | Path,
        out: str | Path,
        settings: Following,
        on_operations: OnOperations | None = None,
        histories: Histories | None = None,
        heed: Heed | None = None,
    ) -> None:
        self.status = Status(str(source), str(out))
        self._source, self._out, self._settings = str(source), Path(out), settings
        self._stride = settings.hour_seconds * 1_000_000
        self._on_operations = on_operations
        self._histories = histories
        self._heed = heed
        self._mirror: Mirror | None = None
        self._hour: Hour | None = None
        self._closing: deque[tuple[Hour, Mapping[str, Any]]] = deque()
        self._publishing: deque[Future[str]] = deque()
        self._counts: Mapping[str, Any] = {}
        self._format = ""
        self._states = 0
        self._undated: list[tuple[str, Damaged]] = []
        self._heard = time.monotonic()
        self._ended = False

    def __enter__(self) -> Follower:
        with ExitStack() as stack:
            durable.private(self._out)
            lock = durable.locked(self._out / ".lock", wait=False)
            stack.enter_context(lock)
            self._pool = stack.enter_context(ThreadPoolExecutor(1))
            self._publisher = stack.enter_context(ThreadPoolExecutor(1))
            hour.clear(self._out)
            state.clear(self._out)
            before = state.newest(self._out)
            self._lives = self._nothing(self._histories)
            reach = int(self._settings.warm_seconds * 1e6)
            self._warm = Warm(reach, before.warm if before else None)
            resume = self._resumed(before) if before else None
            self._native = NativeFollower(
                self._source,
                self._stride,
                resume,
                self._settings.until_idle,
                memory=self._settings.memory_bytes,
            )
            self._lives.set_losses_known(True)
            if self._settings.history and isinstance(self._lives, LiveHistory):
                self._mirror = Mirror(
                    self._settings.history, self._lives, self._settings, self._heed
                )
                self._mirror.update(0.0, "starting")
                self.status.sent = self._mirror.sent
            self._resuming = resume is not None
            self._left = stack.pop_all()
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        with self._left:
            self._native.stop()
            if self._mirror is not None:
                self._mirror.close()
                self._mirror = None
            if error is not None:
                for each in filter(None, (self._hour, *(own for own, _ in self._closing))):
                    each.give_up(error)

    def stop(self) -> None:
        """Stop soon: all input so far is written, and the next follower continues after it."""
        self._native.stop()

    def go_on(self) -> bool:
        """Process all input that has arrived, or wait briefly for it; return False at the end."""
        if self._ended:
            return False
        with error_context(self._source):
            piece = self._native.next_piece(WAIT)
        if piece is not None:
            self._take(piece)
        self._share(piece is None or piece.idle)
        return True

    def _share(self, idle: bool) -> None:
        """Publish the known state to readers of the live history."""
        if self._mirror is None or self._ended:
            return
        if idle:
            self._mirror.idle()
        state = "following" if self.status.state == "following" else "starting"
        self._mirror.update(self.status.lag or 0.0, state)

    def _nothing(self, histories: Histories | None) -> Lives:
        """Return a follower of lives that knows none."""
        if self._settings.history is None:
            return LivesBuilder(self._settings.max_live, memory=self._settings.memory_bytes)
        keys = self._settings.history_keys
        files, names = histories or (HistoryKeeper(keys), HistoryKeeper(keys))
        how = self._settings
        return LiveHistory(
            files,
            names,
            how.max_live,
            max_awaited=how.history_births,
            memory=how.memory_bytes,
        )

    def _resumed(self, before: State) -> tuple[state.Place, state.Place, int]:
        """Load an earlier follower's state; return the places to read from."""
        self._states = before.number
        kind = LivesBuilder if self._settings.history is None else LiveHistory
        try:
            self._lives = kind.load(state.lives(self._out, before), self._settings.memory_bytes)
        except (OSError, ValueError) as error:
            log.warning(
                "the lives that were known at the end of %s are lost: %s", before.dataset, error
            )
        return before.warm, before.place, before.clock

    def _take(self, piece: FollowedPiece) -> None:
        self._look(piece)
        if self._resuming and not self._is_beyond(piece):
            return
        chunk = Chunk.of(piece.chunk)
        self._undated += [(piece.place[0] or self._source, each) for each in chunk.damaged]
        if self._hour is None and self._is_due(piece, chunk):
            self._begin(piece)
        update(self._lives, chunk, self._on_operations)
        self.status.gaps += sum(map(len, chunk.gaps))
        self._write(piece, chunk)
        if piece.clock is not None:
            rows = sum(map(len, chunk.operations))
            self._warm.pass_by(piece.clock, piece.place)
            if self._mirror is not None:
                self._mirror.heard(piece.clock, rows)
                for batch in chunk.loss:
                    self._mirror.lost(batch)
            if rows:
                self._heard = time.monotonic()
                self.status.batch(piece.clock, rows)
        if piece.ended:
            self._end(piece)
        elif self._hour is not None and self._is_over(self._hour, piece):
            self._cut(self._hour, piece)
        self._publish()

    def _look(self, piece: FollowedPiece) -> None:
        status = self.status
        status.state = "reading again" if self._resuming else "following"
        status.files, status.overwritten = piece.files, piece.missed
        for file, why in piece.refused:
            status.refused[file] = why
            log.warning("%s: %s is passed over: %s", self._source, file, why)
        if piece.ended:
            self._ended, status.state = True, "ended"

    def _is_beyond(self, piece: FollowedPiece) -> bool:
        """Return whether a piece lies beyond the input that was read again for earlier hours."""
        if piece.resumed:
            self._resuming, self._counts = False, piece.counts() or {}
            return False
        if piece.clock is None:
            return piece.ended and not piece.stopped
        self._resuming = False
        return True

    def _is_due(self, piece: FollowedPiece, chunk: Chunk) -> bool:
        """Return whether an hour must take a piece. Damage waits until an hour is known."""
        waits = piece.clock is None and not piece.ended and len(self._undated) < MOST_UNDATED
        return bool(chunk.rows() or (self._undated and not waits))

    def _begin(self, piece: FollowedPiece) -> None:
        """Begin the hour of a piece."""
        if operations := piece.chunk.operations:
            time_of = operations[0]["time"][0].value
        else:
            time_of = piece.clock or int(time.time() * 1e6)
        begins = time_of // self._stride * self._stride
        self._hour = Hour(self._out, begins, self._counts, self._pool)

    def _write(self, piece: FollowedPiece, chunk: Chunk) -> None:
        """Write the rows of a piece."""
        if self._hour is not None:
            self._hour.expect(chunk.operations)
        for batch in piece.settled:
            of = next((own for own, _ in self._closing if own.waiting), self._hour)
            assert of is not None
            of.settle(batch)
        if self._hour is not None:
            final = [each for each in chunk.rows() if each[0] != "operations"]
            self._hour.write([*final, *take_finished(self._lives)])
            for file, records in groupby(self._undated, key=itemgetter(0)):
                self._hour.set_aside(file, [record for _, record in records])
            self._undated.clear()
        self._counts = self.status.counts = piece.counts() or self._counts
        self.status.evicted_lives = self._lives.evicted()
        self._format = piece.format or self._format
        self.status.unwatched += sum(pc.sum(b["unwatched"]).as_py() for b in chunk.loss)

    def _is_over(self, own: Hour, piece: FollowedPiece) -> bool:
        """Return whether an hour is over: by the trace's time, or by the host's if idle.

        A clock that was set back begins another hour.
        """
        if piece.clock is None:
            return False
        if not own.begins - EARLIER <= piece.clock < own.begins + self._stride:
            return True
        quiet = time.monotonic() - self._heard > QUIET
        return quiet and time.time() * 1e6 > own.begins + self._stride + QUIET * 1e6

    def _cut(self, own: Hour, piece: FollowedPiece, is_over: bool = False) -> None:
        """End an hour: later input belongs to the next, and a restart continues from here.

        If the trace is over, the restart knows nothing of it, and so writes nothing of it again.
        """
        place, clock = piece.place, piece.clock or own.begins
        warm = place if is_over else self._warm.before(place)
        save = self._empty_state() if is_over else self._lives.save
        self._states += 1
        ended = State(own.name, self._states, warm, place, clock)
        state.keep(self._out, ended, save)
        self._closing.append((own, self._counts))
        self._hour = None

    def _end(self, piece: FollowedPiece) -> None:
        """Write the rest: the source has ended, or another follower will continue."""
        if piece.stopped:
            if self._hour is not None:
                self._cut(self._hour, piece)
            return
        for rest in take_rest(self._lives):
            if self._hour is None:
                self._begin(piece)
            assert self._hour is not None
            self._hour.write(rest)
        if self._hour is not None:
            self._cut(self._hour, piece, is_over=True)

    def _empty_state(self) -> Callable[[Path], None]:
        """Return a function that saves an empty state for a trace that continues: no lives."""
        if isinstance(self._lives, LiveHistory):
            return self._lives.save_histories
        return LivesBuilder(self._settings.max_live).save

    def _publish(self) -> None:
        """Publish, in the background, the hours whose rows are final."""
        while self._closing and not self._closing[0][0].waiting:
            own, counts = self._closing.popleft()
            before = self._publishing[-1] if self._publishing else None
            given = self._publisher.submit(self._give_place, own, counts, before)
            self._publishing.append(given)
        while self._publishing and (self._ended or self._publishing[0].done()):
            self.status.datasets.append(self._publishing.popleft().result())

    def _give_place(self, own: Hour, counts: Mapping[str, Any], before: Future[str] | None) -> str:
        """Publish an hour, unless the one before it failed: it must be followed again."""
        if before is not None:
            before.result()
        own.publish(self._source, self._format, counts)
        state.settle(self._out, own.name)
        return own.name
