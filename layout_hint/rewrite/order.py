"""The order of execution: that of the replies, except for overlapping calls.

A server executed a call at some time between the call and its reply. Most calls overlap with
nothing that matters to them, and the order of replies is possible for the server. If two calls
overlap and only one order explains both results, that order is used. So the calls made before a
reply must be known when the reply is processed.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator

from birthmark.layout_hint.rewrite.calls import Call

HORIZON_US = 1_000_000
"""How far beyond a reply to look for replies to calls that were made before it."""
LONGEST = 100_000
"""The most calls to look ahead."""


class Window:
    """The calls to come, in the order of their replies: iterate over it once.

    ``overlapping`` finds calls still to come that overlap with a call; ``take`` draws one of them
    early, so that the iteration omits it.
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
        """Draw a call; return whether it had not been drawn before."""
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
    """Return the handles that index a call; a call without handles has none."""
    fh = call.fh or b""
    return (fh,) if call.fh2 in (None, fh) else (fh, call.fh2 or b"")
