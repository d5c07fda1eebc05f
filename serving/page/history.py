"""The last day's traffic, minute by minute, in bounded memory."""

from __future__ import annotations

import threading
import time
from array import array
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.serving.page.totals import Totals

MINUTES = 24 * 60
"""The most samples, one a minute."""

SAMPLE_SECONDS = 60.0
"""The time between two samples."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Counts of the `seconds` until `until`: about 0.5 KiB, packed.

    `buckets` are requests by the `ends` of the histogram's buckets; `counts` are the answers no and
    yes of each of `keys`. Samples share `ends` and `keys`. `scopes` are the creates answered, in
    the order of ``features.history_scope.HISTORY_SCOPES``. `operations` are those of the live
    history's follower, None without one.
    """

    until: datetime
    seconds: float
    ends: tuple[float, ...]
    buckets: array[int]
    keys: tuple[str, ...]
    counts: array[int]
    scopes: array[int]
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
    """Samples of the totals that `read` returns, for a day.

    `since` is when it began.
    """

    def __init__(self, read: Callable[[], Totals]) -> None:
        self.since = datetime.now(UTC)
        self._read = read
        self._lock = threading.Lock()
        self._samples: deque[Sample] = deque(maxlen=MINUTES)
        self._last, self._at = read(), time.monotonic()

    def take(self) -> None:
        """Take a sample of the counts since the last one."""
        with self._lock:
            current, now = self._read(), time.monotonic()
            self._samples.append(self._since_last(current, now))
            self._last, self._at = current, now

    def now(self) -> tuple[list[Sample], Totals]:
        """Return all samples, with one of the counts since the last, and the totals."""
        with self._lock:
            current = self._read()
            return [*self._samples, self._since_last(current, time.monotonic())], current

    def _since_last(self, current: Totals, now: float) -> Sample:
        ends, keys = tuple(current.seconds), tuple(current.answers)
        if self._samples:  # share equal tuples among samples
            before = self._samples[-1]
            ends = before.ends if before.ends == ends else ends
            keys = before.keys if before.keys == keys else keys
        up_to = [current.seconds[end] - self._last.seconds.get(end, 0.0) for end in ends]
        counts = [
            count - was
            for key in keys
            for count, was in zip(
                current.answers[key], self._last.answers.get(key, (0.0, 0.0)), strict=True
            )
        ]
        scopes = [
            current.scopes.get(scope, 0.0) - self._last.scopes.get(scope, 0.0)
            for scope in HISTORY_SCOPES
        ]
        buckets = [one - below for one, below in zip(up_to, [0.0, *up_to], strict=False)]
        until, seconds = datetime.now(UTC), now - self._at
        followed = _followed(current.operations, self._last.operations)
        counted = _whole(counts), _whole(scopes), followed
        return Sample(until, seconds, ends, _whole(buckets), keys, *counted)


def _followed(now: float | None, before: float | None) -> int | None:
    """Return the operations since the last sample, or since a restart of the follower."""
    if now is None or before is None:
        return None
    return round(now - before if now >= before else now)


def _whole(counts: Sequence[float]) -> array[int]:
    return array("Q", [max(0, round(count)) for count in counts])


def quantile(samples: Sequence[Sample], share: float) -> float | None:
    """Return the quantile `share` of the requests' times, seconds; None without requests.

    It interpolates linearly within a bucket of the histogram, as Prometheus does. Beyond the last
    finite bucket it returns the end of that.
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
