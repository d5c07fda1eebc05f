"""A load over time: the seconds that are complete, and their counts."""

from __future__ import annotations

import time
from collections.abc import Sequence

from birthmark.data.common.durations import SECOND
from birthmark.data.settings import Ranked, TopKey
from birthmark.data.top.feeds import Feed
from birthmark.data.top.load import KEYS, LiveCounts, Snapshot

SETTLED = SECOND // 2
"""A second is shown once the trace is this far beyond it, µs: most calls have replies then."""


class Watch:
    """The counts of a feed.

    Attributes:
        feed: the source of operations.
        load: their counts.
        until: the end of the time shown, µs since the epoch; None: no operation yet.
    """

    def __init__(self, load: LiveCounts, feed: Feed) -> None:
        self.load, self.feed = load, feed
        self.until: int | None = None

    def poll(self) -> None:
        """Count new operations."""
        self.load.update(self.feed.poll())

    def go_on(self) -> None:
        """Show all seconds that are complete by now."""
        load, clock = self.load, self.feed.clock
        if load.first is None or load.last is None or clock is None:
            return
        if self.feed.ended:
            self.until = -(-(load.last + 1) // SECOND) * SECOND
        else:
            self.until = (clock - SETTLED) // SECOND * SECOND

    def catch_up(self) -> None:
        """Do background work."""
        if self.until is not None:
            self.load.catch_up(self.until)

    @property
    def begins(self) -> int:
        """The second of the first operation, µs since the epoch; 0: no operation yet."""
        return (self.load.first or 0) // SECOND * SECOND

    @property
    def waits(self) -> int:
        """How far the trace is ahead of the time shown, µs."""
        return 0 if self.until is None else (self.feed.clock or 0) - self.until

    @property
    def behind(self) -> float | None:
        """The delay by this host's clock, seconds; None: the traffic is not live."""
        clock = self.feed.clock
        if not self.feed.live or self.feed.ended or clock is None:
            return None
        late = time.time() - clock / SECOND
        return late if -1 < late < 3600 else None

    def seen(
        self, window: int | None, order: Ranked, count: int, keys: Sequence[TopKey] = KEYS
    ) -> Snapshot:
        """Return the counts of the last ``window`` µs before `until`; None: since the start."""
        until = self.until or 0
        since = self.begins if window is None else max(until - window, self.begins)
        return self.between(since, until, order, count, keys, whole=window is None)

    def between(
        self,
        since: int,
        until: int,
        order: Ranked,
        count: int,
        keys: Sequence[TopKey] = KEYS,
        whole: bool = False,
    ) -> Snapshot:
        """Return the counts of whole seconds, or all counts known by now."""
        self.load.look_at(since, until, keys)
        seen = self.load.whole if whole else self.load.recent
        return seen(order, count, keys)
