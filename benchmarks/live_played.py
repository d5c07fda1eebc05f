"""A day's packets, played into a follower, and questions asked before it is given their calls."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import IO, Protocol

import numpy as np

from benchmarks.live_questions import Questions
from benchmarks.packets import Packets
from birthmark.data.common.arrays import Ints

TICK = 0.01
"""Packets are written every so many seconds."""

Ask = Callable[[int, int], None]
"""Asks about the questions from one number to before another."""


class Followed(Protocol):
    """A follower, as ``live_servers.Follower``."""

    def clock(self) -> int:
        """Return until when it knows the trace, microseconds since the epoch."""

    def wait_until(self, time_of: int) -> None:
        """Return once it knows the trace until a time."""


@dataclass
class Delays:
    """How far behind all were, in seconds, a number for each time that something was asked.

    ``follower``: for how long the oldest reply that it did not know yet had been written;
    ``client``: by how much later than due was asked.
    """

    follower: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)


class Player:
    """Plays packets into a follower's ``pipe``; ``replies`` are the times of replies, ascending.

    A question about a create is sent when all packets before that with its call are written.
    """

    def __init__(
        self, packets: Packets, replies: Ints, pipe: IO[bytes], follower: Followed
    ) -> None:
        self._packets, self._replies = packets, replies
        self._pipe, self._follower = pipe, follower
        # captures are not strictly in the order of time: none comes after one that is later
        self._times = np.maximum.accumulate(packets.times)
        self._sent = 0
        self._until: list[int] = []
        self._when: list[float] = []
        self.delays = Delays()

    def paced(self, questions: Questions, ask: Ask, speed: float) -> None:
        """Play in step with the wall clock, ``speed`` times as fast as it happened."""
        first, began = int(self._times[0]), time.monotonic()

        def due(moment: int) -> float:
            return began + (moment - first) / 1e6 / speed

        def passed() -> int:
            return int(first + (time.monotonic() - began) * 1e6 * speed)

        for number, moment in enumerate(questions.times.tolist()):
            self._in_step(self._before(moment), due, passed)
            _sleep_until(due(moment))
            self.delays.client.append(time.monotonic() - due(moment))
            self.delays.follower.append(self._behind())
            ask(number, number + 1)
        self._in_step(len(self._times), due, passed)

    def at_once(self, questions: Questions, ask: Ask, together: int) -> None:
        """Play as fast as the follower follows; ask about calls of a stretch of time together.

        That is so many microseconds of the trace long.
        """
        for first, last in stretches(questions.times, together):
            moment = int(questions.times[first])
            self._write(self._before(moment))
            known = bisect_left(self._replies, moment)
            if known:
                self._follower.wait_until(int(self._replies[known - 1]))
            ask(first, last)
        self._write(len(self._times))

    def _before(self, moment: int) -> int:
        """Return the number of packets before the first one at a time or later."""
        return int(np.searchsorted(self._times, moment))

    def _in_step(self, last: int, due: Callable[[int], float], passed: Callable[[], int]) -> None:
        """Write packets when they are due, up to that of number ``last``."""
        while self._sent < last:
            ready = min(last, int(np.searchsorted(self._times, passed(), side="right")))
            if ready > self._sent:
                self._write(ready)
            else:
                _sleep_until(min(due(int(self._times[self._sent])), time.monotonic() + TICK))

    def _write(self, last: int) -> None:
        if last > self._sent:
            self._pipe.write(self._packets.as_captured(self._sent, last))
            self._pipe.flush()
            self._sent = last
            self._until.append(int(self._times[last - 1]))
            self._when.append(time.monotonic())

    def _behind(self) -> float:
        """Return for how long the oldest reply that the follower does not know was written."""
        unknown = int(np.searchsorted(self._replies, self._follower.clock(), side="right"))
        if unknown == len(self._replies):
            return 0.0
        written = bisect_left(self._until, int(self._replies[unknown]))
        return time.monotonic() - self._when[written] if written < len(self._when) else 0.0


def stretches(times: Ints, together: int) -> Iterator[tuple[int, int]]:
    """Yield from which question to before which one less than ``together`` passes."""
    first = 0
    while first < len(times):
        last = int(np.searchsorted(times, times[first] + max(together, 1)))
        yield first, last
        first = last


def _sleep_until(moment: float) -> None:
    left = moment - time.monotonic()
    if left > 0:
        time.sleep(left)
