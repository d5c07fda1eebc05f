"""Traffic into datasets, hour by hour, while it happens: decode, join, follow lives, write."""

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

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common import durable
from birthmark.data.follow import hour, state
from birthmark.data.follow.hour import Hour
from birthmark.data.follow.mirror import EARLIER, Heed, Mirror
from birthmark.data.follow.state import State, Warm
from birthmark.data.follow.status import Status
from birthmark.data.ingest.run import naming, taken
from birthmark.data.schema import MESSAGES
from birthmark.data.settings import Following
from birthmark_native import FollowedPiece, HistoryKeeper, LiveHistory, LivesBuilder
from birthmark_native import Follower as NativeFollower
from birthmark_native.results import Damaged

WAIT = 0.2
"""For so many seconds a piece is waited for before signals and ticks are looked at."""

QUIET = 60.0
"""An hour that is over by the host's clock ends after so many seconds without traffic."""

MOST_ASIDE = 10_000
"""So many damaged records wait for a time by which an hour can be told."""

Hear = Callable[[pa.RecordBatch], None]
Lives = LivesBuilder | LiveHistory
Histories = tuple[HistoryKeeper, HistoryKeeper]

log = logging.getLogger(__name__)


def follow(
    source: str | Path,
    out: str | Path,
    settings: Following | None = None,
    hear: Hear | None = None,
    tick: Callable[[Status], None] | None = None,
) -> Status:
    """Follow a source until it ends; write a dataset of each hour (see `data.follow.hour`).

    Args:
        source: ``-`` is standard input; a pipe; a folder in which a monitor begins a new file every
            so often, or one file that grows.
        out: the directory of the datasets; made if need be. One process at a time may follow into
            it.
        settings: how.
        hear: is given each batch of operations as soon as it is there.
        tick: is called often, about every `WAIT` seconds or sooner; `Follower` may be stopped.

    Raises:
        OSError: the source cannot be read, or `out` cannot be written.
        ValueError: a pipe holds no trace, or what is kept in `out` is damaged.
    """
    with Follower(source, out, settings or Following(), hear) as follower:
        while follower.go_on():
            if tick:
                tick(follower.status)
    return follower.status


class Follower:
    """Follows one source into datasets. Use it as a context manager, and `go_on` within.

    When it is left by an exception, or killed, the next one goes on from the last dataset
    (`data.follow.state`). If the settings name a file for the live history, that is kept
    (`data.follow.mirror`), and ``heed`` told what comes to be known; where no follower was here
    before, it goes on from ``histories``, of files and of names.
    """

    def __init__(
        self,
        source: str | Path,
        out: str | Path,
        settings: Following,
        hear: Hear | None = None,
        histories: Histories | None = None,
        heed: Heed | None = None,
    ) -> None:
        self.status = Status(str(source), str(out))
        self._source, self._out, self._settings = str(source), Path(out), settings
        self._stride = settings.hour_seconds * 1_000_000
        self._hear = hear
        self._histories = histories
        self._heed = heed
        self._mirror: Mirror | None = None
        self._hour: Hour | None = None
        self._closing: deque[tuple[Hour, Mapping[str, Any]]] = deque()
        self._publishing: deque[Future[str]] = deque()
        self._counts: Mapping[str, Any] = {}
        self._format = ""
        self._states = 0
        self._aside: list[tuple[str, Damaged]] = []
        self._heard = time.monotonic()
        self._ended = False
        self._stopped = False

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
                self._source, self._stride, resume, self._settings.until_idle
            )
            self._lives.loss_told(True)
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
        """End soon: what has come is written, and the next follower goes on behind it."""
        self._stopped = True
        self._native.stop()

    def go_on(self) -> bool:
        """Do all that is due with what has come, or wait for it a moment; false at the end."""
        if self._ended:
            return False
        with naming(self._source):
            piece = self._native.next_piece(WAIT)
        if piece is not None:
            self._take(piece)
        self._share(piece is None or piece.idle)
        return True

    def _share(self, idle: bool) -> None:
        """Let the readers of the live history see what is known."""
        if self._mirror is None or self._ended:
            return
        if idle:
            self._mirror.idle()
        state = "following" if self.status.state == "following" else "starting"
        self._mirror.update(self.status.lag or 0.0, state)

    def _nothing(self, histories: Histories | None) -> Lives:
        """Return what follows lives of which none is known."""
        if self._settings.history is None:
            return LivesBuilder(self._settings.max_live)
        keys = self._settings.history_keys
        files, names = histories or (HistoryKeeper(keys), HistoryKeeper(keys))
        how = self._settings
        return LiveHistory(files, names, how.max_live, max_awaited=how.history_births)

    def _resumed(self, before: State) -> tuple[state.Place, state.Place, int]:
        """Take up what an earlier follower left; return from where to read."""
        self._states = before.number
        kind = LivesBuilder if self._settings.history is None else LiveHistory
        try:
            self._lives = kind.load(state.lives(self._out, before))
        except (OSError, ValueError) as error:
            log.warning(
                "the lives that were known at the end of %s are lost: %s", before.dataset, error
            )
        return before.warm, before.place, before.clock

    def _take(self, piece: FollowedPiece) -> None:
        self._look(piece)
        if self._resuming and not self._is_beyond(piece):
            return
        self._aside += [(piece.place[0] or self._source, each) for each in piece.damaged]
        if self._hour is None and self._is_due(piece):
            self._begin(piece)
        for gaps in piece.gaps:
            self._lives.update_loss(gaps)
            self.status.gaps += len(gaps)
        for batch in piece.rows:
            self.hand_on(batch)
        self._write(piece)
        if piece.clock is not None:
            rows = sum(map(len, piece.rows))
            self._warm.pass_by(piece.clock, piece.place)
            if self._mirror is not None:
                self._mirror.heard(piece.clock, rows)
                for batch in piece.loss:
                    self._mirror.lost(batch)
            if rows:
                self._heard = time.monotonic()
                self.status.batch(piece.clock, rows)
        if piece.ended:
            self._end(piece)
        elif self._hour is not None and self._is_over(self._hour, piece):
            self._cut(self._hour, piece)
        self._publish()

    def hand_on(self, batch: pa.RecordBatch) -> None:
        """Give operations, as soon as they are there, to all who learn from them."""
        self._lives.update(batch)
        if self._hear:
            self._hear(batch)

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
        """Tell whether a piece goes on behind what was read again, which earlier hours hold."""
        if piece.resumed:
            self._resuming, self._counts = False, piece.counts() or {}
            return False
        if piece.clock is None:
            return piece.ended and not self._stopped
        self._resuming = False
        return True

    def _is_due(self, piece: FollowedPiece) -> bool:
        """Tell whether something came that an hour must hold. Damage waits until one is known."""
        waits = piece.clock is None and not piece.ended and len(self._aside) < MOST_ASIDE
        rows = piece.rows or piece.messages or piece.loss
        return bool(rows or (self._aside and not waits))

    def _begin(self, piece: FollowedPiece) -> None:
        """Begin the hour that a piece is of."""
        if piece.rows:
            time_of = piece.rows[0]["time"][0].value
        else:
            time_of = piece.clock or int(time.time() * 1e6)
        begins = time_of // self._stride * self._stride
        self._hour = Hour(self._out, begins, self._counts, self._pool)

    def _write(self, piece: FollowedPiece) -> None:
        """Write what came to be known with a piece."""
        if self._hour is not None:
            self._hour.expect(piece.rows)
        for batch in piece.settled:
            of = next((own for own, _ in self._closing if own.waiting), self._hour)
            assert of is not None
            of.settle(batch)
        if self._hour is not None:
            messages = piece.messages
            told = [
                ("messages", pa.RecordBatch.from_arrays(b.columns, schema=MESSAGES))
                for b in messages
            ]
            told += [("loss", batch) for batch in piece.loss]
            self._hour.write([*told, *taken(self._lives)])
            for file, records in groupby(self._aside, key=itemgetter(0)):
                self._hour.set_aside(file, [record for _, record in records])
            self._aside.clear()
        self._counts = self.status.counts = piece.counts() or self._counts
        self._format = piece.format or self._format
        self.status.unwatched += sum(pc.sum(b["unwatched"]).as_py() for b in piece.loss)

    def _is_over(self, own: Hour, piece: FollowedPiece) -> bool:
        """Tell whether an hour is: by the trace's time, or by the host's where nothing comes.

        By a clock that was set back, another begins.
        """
        if piece.clock is None:
            return False
        if not own.begins - EARLIER <= piece.clock < own.begins + self._stride:
            return True
        quiet = time.monotonic() - self._heard > QUIET
        return quiet and time.time() * 1e6 > own.begins + self._stride + QUIET * 1e6

    def _cut(
        self, own: Hour, piece: FollowedPiece, save: Callable[[Path], None] | None = None
    ) -> None:
        """End an hour: what comes from now on is another's, and here one goes on if killed."""
        place, clock = piece.place, piece.clock or own.begins
        warm = self._warm.before(place)
        self._states += 1
        ended = State(own.name, self._states, warm, place, clock)
        state.keep(self._out, ended, save or self._lives.save)
        self._closing.append((own, self._counts))
        self._hour = None

    def _end(self, piece: FollowedPiece) -> None:
        """Write what is left: nothing will come, or another follower goes on."""
        if self._stopped:
            if self._hour is not None:
                self._cut(self._hour, piece)
            return
        self._lives.finish()
        while rest := taken(self._lives):
            if self._hour is None:
                self._begin(piece)
            assert self._hour is not None
            self._hour.write(rest)
        if self._hour is not None:
            self._cut(self._hour, piece, self._saves_anew())

    def _saves_anew(self) -> Callable[[Path], None]:
        """Return what saves what another trace goes on from: no lives."""
        if isinstance(self._lives, LiveHistory):
            return self._lives.save_histories
        return LivesBuilder(self._settings.max_live).save

    def _publish(self) -> None:
        """Give the hours their places of which all is known, behind what goes on meanwhile."""
        while self._closing and not self._closing[0][0].waiting:
            own, counts = self._closing.popleft()
            before = self._publishing[-1] if self._publishing else None
            given = self._publisher.submit(self._give_place, own, counts, before)
            self._publishing.append(given)
        while self._publishing and (self._ended or self._publishing[0].done()):
            self.status.datasets.append(self._publishing.popleft().result())

    def _give_place(self, own: Hour, counts: Mapping[str, Any], before: Future[str] | None) -> str:
        """Give an hour its place; not if the one before it has none: it is to be followed again."""
        if before is not None:
            before.result()
        own.publish(self._source, self._format, counts)
        state.settle(self._out, own.name)
        return own.name
