"""How the last day went, minute by minute, in bounded memory."""

from __future__ import annotations

import threading
import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from birthmark.features.told import TOLD
from birthmark.serving.page.totals import Totals

MINUTES = 24 * 60
"""How many samples are kept, one a minute."""

SAMPLE_SECONDS = 60.0
"""The time between two samples, which the page draws by the minute."""


@dataclass(frozen=True, slots=True)
class Sample:
    """What was counted in the `seconds` until `until`: about 0.5 KiB, packed.

    `buckets` are requests by the `ends` of the histogram's buckets, and `counts` the answers no and
    yes of each of `keys`; both names are shared among samples. `told` are the creates answered, by
    what they were told of earlier files, in the order of ``features.TOLD``; `operations` those that
    the live history's follower followed, None if there was none.
    """

    until: datetime
    seconds: float
    ends: tuple[float, ...]
    buckets: array[int]
    keys: tuple[str, ...]
    counts: array[int]
    told: array[int]
    operations: int | None

    @property
    def requests(self) -> int:
        """How many requests there were."""
        return sum(self.buckets)

    def answers(self) -> Mapping[str, tuple[int, int]]:
        """Return no and yes by predicate."""
        pairs = zip(self.counts[::2], self.counts[1::2], strict=True)
        return dict(zip(self.keys, pairs, strict=True))


class History:
    """Samples of what `read` tells has been counted; the oldest are forgotten after a day.

    `since` is when it began. Each worker has its own.
    """

    def __init__(self, read: Callable[[], Totals]) -> None:
        self.since = datetime.now(UTC)
        self._read = read
        self._lock = threading.Lock()
        self._samples: deque[Sample] = deque(maxlen=MINUTES)
        self._last, self._at = read(), time.monotonic()

    def take(self) -> None:
        """Take a sample of what was counted since that before."""
        with self._lock:
            found, now = self._read(), time.monotonic()
            self._samples.append(self._since_last(found, now))
            self._last, self._at = found, now

    def now(self) -> tuple[list[Sample], Totals]:
        """Return all samples, with what was counted since the last, and all totals."""
        with self._lock:
            found = self._read()
            return [*self._samples, self._since_last(found, time.monotonic())], found

    def _since_last(self, found: Totals, now: float) -> Sample:
        ends, keys = tuple(found.seconds), tuple(found.answers)
        if self._samples:  # the same names once
            before = self._samples[-1]
            ends = before.ends if before.ends == ends else ends
            keys = before.keys if before.keys == keys else keys
        up_to = [found.seconds[end] - self._last.seconds.get(end, 0.0) for end in ends]
        counts = [
            count - was
            for key in keys
            for count, was in zip(
                found.answers[key], self._last.answers.get(key, (0.0, 0.0)), strict=True
            )
        ]
        told = [found.told.get(each, 0.0) - self._last.told.get(each, 0.0) for each in TOLD]
        buckets = [one - below for one, below in zip(up_to, [0.0, *up_to], strict=False)]
        until, seconds = datetime.now(UTC), now - self._at
        followed = _followed(found.operations, self._last.operations)
        counted = _whole(counts), _whole(told), followed
        return Sample(until, seconds, ends, _whole(buckets), keys, *counted)


def _followed(now: float | None, before: float | None) -> int | None:
    """Return how many operations came since; of a follower that has begun anew, all that it has."""
    if now is None or before is None:
        return None
    return round(now - before if now >= before else now)


def _whole(counts: Sequence[float]) -> array[int]:
    return array("Q", [max(0, round(count)) for count in counts])


def quantile(samples: Sequence[Sample], share: float) -> float | None:
    """Return the time that `share` of the requests took at most, seconds; None where none was.

    Within a bucket of the histogram requests are taken to be spread evenly, as Prometheus does; of
    those beyond its last end it is known only that they took longer: that end is returned.
    """
    buckets: dict[float, int] = {}
    for sample in samples:
        for end, count in zip(sample.ends, sample.buckets, strict=True):
            buckets[end] = buckets.get(end, 0) + count
    wanted, seen, low = share * sum(buckets.values()), 0, 0.0
    for end, count in sorted(buckets.items()):
        if count and seen + count >= wanted:
            return low if end == float("inf") else low + (end - low) * (wanted - seen) / count
        seen, low = seen + count, end
    return None
