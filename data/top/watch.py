"""A load as time passes: up to which second it is known, and what was counted up to there."""

from __future__ import annotations

import time
from collections.abc import Sequence

from birthmark.data.common.durations import SECOND
from birthmark.data.settings import Ranked, TopKey
from birthmark.data.top.feeds import Feed
from birthmark.data.top.load import KEYS, Load, Seen

SETTLED = SECOND // 2
"""A second is shown when the trace is so far beyond it, µs: most of its calls have replies then."""


class Watch:
    """What a feed brings, counted.

    Attributes:
        feed: where operations come from.
        load: what they are counted in.
        until: up to when they are looked at, µs since the epoch; None: nothing came yet.
    """

    def __init__(self, load: Load, feed: Feed) -> None:
        self.load, self.feed = load, feed
        self.until: int | None = None

    def poll(self) -> None:
        """Count what came."""
        self.load.update(self.feed.poll())

    def go_on(self) -> None:
        """Look at all seconds that are known by now."""
        load, clock = self.load, self.feed.clock
        if load.first is None or load.last is None or clock is None:
            return
        if self.feed.ended:
            self.until = -(-(load.last + 1) // SECOND) * SECOND
        else:
            self.until = (clock - SETTLED) // SECOND * SECOND

    def rest(self) -> None:
        """Do what no picture needs to wait for."""
        if self.until is not None:
            self.load.rest(self.until)

    @property
    def begins(self) -> int:
        """The second of the first operation, µs since the epoch; 0: there was none."""
        return (self.load.first or 0) // SECOND * SECOND

    @property
    def waits(self) -> int:
        """How much of what came has not been looked at, µs."""
        return 0 if self.until is None else (self.feed.clock or 0) - self.until

    @property
    def behind(self) -> float | None:
        """How late it is by this host's clock, seconds; None: the traffic does not pass now."""
        clock = self.feed.clock
        if not self.feed.live or self.feed.ended or clock is None:
            return None
        late = time.time() - clock / SECOND
        return late if -1 < late < 3600 else None

    def seen(
        self, window: int | None, order: Ranked, count: int, keys: Sequence[TopKey] = KEYS
    ) -> Seen:
        """Return what was counted in so many µs before `until`; None: since the start."""
        until = self.until or 0
        since = self.begins if window is None else max(until - window, self.begins)
        return self.stretch(since, until, order, count, keys, whole=window is None)

    def stretch(
        self,
        since: int,
        until: int,
        order: Ranked,
        count: int,
        keys: Sequence[TopKey] = KEYS,
        whole: bool = False,
    ) -> Seen:
        """Return what was counted in whole seconds; of the whole, all that is known by now."""
        self.load.look_at(since, until, keys)
        seen = self.load.whole if whole else self.load.recent
        return seen(order, count, keys)
