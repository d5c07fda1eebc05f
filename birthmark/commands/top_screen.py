"""``birthmark top`` on a terminal: a screen that refreshes, and keys that choose what it shows."""

from __future__ import annotations

import errno
import gc
import math
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from rich.live import Live

from birthmark.commands.top_keys import GONE, Keys
from birthmark.commands.top_page import Picture, screen
from birthmark.data.common.durations import SECOND, duration
from birthmark.data.settings import Ranked, TopKey, Watching
from birthmark.data.top.load import LiveCounts, Snapshot
from birthmark.data.top.watch import Watch
from birthmark.terminal import Terminal

ALL = "all"
WINDOWS = ("10s", "1m", ALL)
"""The windows to choose from, besides the one of ``--window``."""

POLL = 0.25
"""Interval at which traffic is read and signals are checked, in seconds."""

PAUSE = 300 * SECOND
"""Longest pause, µs. All counts of a pause are kept per second."""

BY: dict[str, TopKey] = {each[0]: each for each in get_args(TopKey)}
ORDER: dict[str, Ranked] = {each[0]: each for each in get_args(Ranked)}


@dataclass
class View:
    """The user's choices of what is shown.

    Attributes:
        title: the traces.
        asked: the options of the command.
        users: names of users by number.
        by, order, window: the latest choice of each.
        paused: whether the picture is frozen.
        help: whether the keys are explained.
    """

    title: str
    asked: Watching
    users: Mapping[int, str]
    by: TopKey = field(init=False)
    order: Ranked = field(init=False)
    window: str = field(init=False)
    paused: bool = False
    help: bool = False

    def __post_init__(self) -> None:
        self.by, self.order, self.window = self.asked.by, self.asked.order, self.asked.window
        micros_of(self.window)  # refuses a bad window at once
        self._windows = list(dict.fromkeys([self.asked.window, *WINDOWS]))

    @property
    def reach(self) -> int:
        """Length of the longest window, µs."""
        windows = [micros for each in self._windows if (micros := micros_of(each)) is not None]
        return max(*windows, 2 * round(self.asked.every * SECOND))

    def press(self, key: str) -> None:
        """Apply a key; ignore unknown ones."""
        key = key.lower()
        self.help = key in "?h" and not self.help
        if key in BY:
            self.by = BY[key]
        elif key in ORDER:
            self.order = ORDER[key]
        elif key == "\t":
            kinds = list(BY.values())
            self.by = kinds[(kinds.index(self.by) + 1) % len(kinds)]
        elif key == "t":
            at = self._windows.index(self.window) + 1
            self.window = self._windows[at % len(self._windows)]
        elif key in "p ":
            self.paused = not self.paused

    def wake(self, watch: Watch) -> None:
        """End a pause that is too long."""
        self.paused &= watch.waits <= PAUSE

    def of_trace(self, load: LiveCounts, **more: Any) -> Picture:
        """Return a picture of a whole trace."""
        seen = load.whole(self.order, self._count, (self.by,))
        shown = Picture(self.title, seen, self.by, self.order, users=self.users, **more)
        return replace(shown, help=self.help)

    def of_traffic(self, watch: Watch) -> Picture:
        """Return a picture of live traffic, or the last one during a pause."""
        if not self.paused:
            watch.go_on()
        window = micros_of(self.window)
        seen = watch.seen(window, self.order, self._count, (self.by,))
        state = "paused" if self.paused else "ended" if watch.feed.ended else ""
        return Picture(
            self.title,
            seen,
            self.by,
            self.order,
            users=self.users,
            live=_stretch(watch, window, seen),
            per_second=window is not None,
            clock=watch.feed.clock,
            operations=watch.load.operations,
            since=watch.load.first,
            behind=watch.behind,
            state=state,
            help=self.help,
            lost=watch.feed.lost,
            generated=watch.feed.generated,
        )

    @property
    def _count(self) -> int:
        return max(self.asked.count, Terminal().height)


def _stretch(watch: Watch, window: int | None, seen: Snapshot) -> str:
    if watch.load.first is None:
        return "waiting for traffic"
    return "since the start" if window is None else f"last {seen.seconds:g} s"


def micros_of(window: str) -> int | None:
    """Return the length of a window, µs; None: since the start."""
    return None if window == ALL else duration(window)


class Signals:
    """Requests by signals: to end, to suspend, or to redraw."""

    def __init__(self) -> None:
        self.end = self.suspend = self.redraw = False

    @contextmanager
    def heard(self, on_screen: bool) -> Iterator[Signals]:
        """Handle the signals within this context."""
        ends = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
        handlers = dict.fromkeys(ends, self._end)
        if on_screen:
            handlers |= {signal.SIGTSTP: self._suspend, signal.SIGWINCH: self._redraw}
        before = {number: signal.signal(number, own) for number, own in handlers.items()}
        try:
            yield self
        finally:
            for number, own in before.items():
                signal.signal(number, own)

    def _end(self, *_: object) -> None:
        self.end = True

    def _suspend(self, *_: object) -> None:
        self.suspend = True

    def _redraw(self, *_: object) -> None:
        self.redraw = True


def show(view: View, draw: Callable[[], Picture], watch: Watch | None) -> None:
    """Show pictures until ``q`` is pressed or a signal ends it."""
    gc.freeze()  # scanning the imported objects would cost more than all else
    with Signals().heard(on_screen=True) as signals, _while_there():
        while not signals.end:
            with Keys() as pressed, _live() as live:
                _session(view, draw, watch, signals, pressed, live)
            if signals.suspend and not signals.end:
                signals.suspend = False
                os.kill(os.getpid(), signal.SIGSTOP)


@contextmanager
def _while_there() -> Iterator[None]:
    """End quietly where the terminal has gone."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.EIO:
            raise


def _live() -> Live:
    return Live(
        console=Terminal(),
        screen=True,
        auto_refresh=False,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def _session(
    view: View,
    draw: Callable[[], Picture],
    watch: Watch | None,
    signals: Signals,
    pressed: Keys,
    live: Live,
) -> None:
    """Show pictures until the end, or until suspension."""
    due = time.monotonic()
    signals.redraw, still = True, watch is None
    while not signals.end and not signals.suspend:
        now = time.monotonic()
        if watch is not None:
            view.wake(watch)
        if signals.redraw or (now >= due and not still and not view.paused):
            signals.redraw = False
            still = watch is None or watch.feed.ended
            due = next_beat(due, view.asked.every, now)
            size = live.console.size
            live.update(screen(draw(), size.width, size.height), refresh=True)
            if watch is not None:
                watch.catch_up()
        rests = still or view.paused
        for key in pressed.wait(POLL if rests else min(POLL, max(due - time.monotonic(), 0.01))):
            signals.end |= key == GONE
            view.press(key)
            signals.redraw = True
        if watch is not None and not watch.feed.ended:
            watch.poll()


def next_beat(due: float, every: float, now: float) -> float:
    """Return when the next picture is due: a multiple of ``every`` after the first."""
    return due + every * (math.floor((now - due) / every) + 1)
