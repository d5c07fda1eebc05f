"""The order of execution: that of the replies, but for calls that overlapped.

A server executed a call at some time between the call and its reply. Most overlap with nothing
that matters to them, and the order of replies is one that the server may have had. Where two
overlapped and only one order explains what both returned, that order is taken; so those calls
that were made before a reply are known when it is come to.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from birthmark.data.replay.calls import Call

HORIZON_US = 1_000_000
"""How much later than a reply others are looked for whose calls were made before it."""
LONGEST = 100_000
"""How many calls are looked at ahead at most."""


class Window:
    """The calls to come, by their replies: iterate over it for each once.

    ``overlapping`` finds those still to come that overlap with a call; ``take`` draws one of them
    ahead, so that the iteration leaves it out.
    """

    def __init__(self, calls: Iterable[Call]) -> None:
        self._calls = calls
        self._heap: list[tuple[int, int, Call]] = []
        self._about: dict[bytes, dict[int, Call]] = {}
        self._newest = 0

    def __iter__(self) -> Iterator[Call]:
        for number, call in enumerate(self._calls):
            reply = call.reply_time or call.time
            self._newest = max(self._newest, reply)
            heapq.heappush(self._heap, (reply, number, call))
            self._index(call)
            while self._heap and (
                self._heap[0][0] <= self._newest - HORIZON_US or len(self._heap) > LONGEST
            ):
                yield from self._next()
        while self._heap:
            yield from self._next()

    def _next(self) -> Iterator[Call]:
        call = heapq.heappop(self._heap)[2]
        if self.take(call):
            yield call

    def _index(self, call: Call) -> None:
        for fh in _handles(call):
            self._about.setdefault(fh, {})[id(call)] = call

    def take(self, call: Call) -> bool:
        """Draw a call; tell whether it had not been drawn before."""
        drawn = False
        for fh in _handles(call):
            about = self._about.get(fh)
            if about and about.pop(id(call), None) is not None:
                drawn = True
                if not about:
                    del self._about[fh]
        return drawn

    def overlapping(self, call: Call, fh: bytes | None) -> list[Call]:
        """Return the calls to come that name a handle and were made before the reply to ``call``.

        They are in the order of their replies.
        """
        about = self._about.get(fh) if fh else None
        if not about:
            return []
        reply = call.reply_time or call.time
        found = [each for each in about.values() if each.time <= reply]
        found.sort(key=lambda each: each.reply_time or each.time)
        return found


def _handles(call: Call) -> tuple[bytes, ...]:
    """Return the handles that a call is found by; one without any stands under none."""
    fh = call.fh or b""
    return (fh,) if call.fh2 in (None, fh) else (fh, call.fh2 or b"")
