"""A follower's report while it is at work: lag, counts, losses."""

from __future__ import annotations

import json
import os
import resource
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from birthmark.data.common import durable
from birthmark.data.traces import unread

LAGS = 36_000
"""The number of batches whose lags are kept: an hour's, at ten a second."""

RECENT = 10.0
"""Seconds over which a rate is averaged."""


@dataclass
class Sent:
    """Statistics of sending, for people.

    Attributes:
        to: the service.
        following: whether the service has the whole history.
        updates, bytes: accepted updates, copies included.
        copies: how often the whole history was sent.
        failures: how many sessions failed, and `why` the last one did; None: none is failing.
    """

    to: str
    following: bool = False
    updates: int = 0
    bytes: int = 0
    copies: int = 0
    failures: int = 0
    why: str | None = None


class Status:
    """Counts and lags of one follower.

    The lag of a batch is the age of its last message, by the host's clock in seconds, when the
    batch was finished.
    """

    def __init__(self, source: str, out: str) -> None:
        self.source, self.out = source, out
        self.state = "waiting"
        self.began = time.time()
        self.clock: int | None = None
        self.lag: float | None = None
        self.operations = self.gaps = self.files = self.overwritten = 0
        self.refused: dict[str, str] = {}
        self.counts: Mapping[str, Any] = {}
        self.unwatched = 0
        self.evicted_lives: Mapping[str, int] = {}
        self.datasets: list[str] = []
        self.sent: Sent | None = None
        self._lags: deque[float] = deque(maxlen=LAGS)
        self._recent: deque[tuple[float, int]] = deque([(time.monotonic(), 0)])

    def batch(self, clock: int, rows: int) -> None:
        """Record a finished batch: its number of rows, and the time of its last message."""
        now = time.monotonic()
        self.clock, self.lag = clock, time.time() - clock / 1e6
        self.operations += rows
        self._lags.append(self.lag)
        self._recent.append((now, self.operations))
        while len(self._recent) > 2 and now - self._recent[0][0] > RECENT:
            self._recent.popleft()

    @property
    def rate(self) -> float:
        """Recent operations a second."""
        (then, before), now = self._recent[0], time.monotonic()
        return (self.operations - before) / max(now - then, 1e-9)

    @property
    def unread(self) -> str | None:
        """A sentence on traffic that could not be read (`data.traces.unread.sentence`)."""
        return unread.sentence(self.counts.get("capture", {}))

    @property
    def evicted(self) -> dict[str, int]:
        """Counts of entries evicted early for lack of memory, by kind."""
        every = {**self.counts.get("evicted", {}), **self.evicted_lives}
        return {what: count for what, count in every.items() if count}

    def to_json(self) -> dict[str, Any]:
        """Return the status for JSON; times are UTC, durations in seconds."""
        lags = np.percentile(self._lags, (50, 99)).tolist() if self._lags else [None, None]
        damaged: Mapping[str, int] = self.counts.get("damaged", {})
        return {
            "source": self.source,
            "out": self.out,
            "process": os.getpid(),
            "state": self.state,
            "unread": self.unread,
            "now": _instant(time.time()),
            "seconds": round(time.time() - self.began, 3),
            "clock": None if self.clock is None else _instant(self.clock / 1e6),
            "lag": _rounded(self.lag),
            "lag_p50": _rounded(lags[0]),
            "lag_p99": _rounded(lags[1]),
            "operations": self.operations,
            "operations_per_second": round(self.rate),
            "bytes": self.counts.get("bytes", 0),
            "records": self.counts.get("records", 0),
            "set_aside": dict(damaged),
            "dropped": self.counts.get("capture", {}).get("dropped", 0),
            "evicted": self.evicted,
            "gaps": self.gaps,
            "unwatched": round(self.unwatched / 1e6, 3),
            "files": self.files,
            "overwritten": self.overwritten,
            "refused": self.refused,
            "datasets": len(self.datasets),
            "last_dataset": self.datasets[-1] if self.datasets else None,
            "peak_memory": _peak_memory(),
            **({"sent": asdict(self.sent)} if self.sent else {}),
        }

    def write(self, path: Path) -> None:
        """Replace a file with the status, atomically."""
        durable.write_text(path, json.dumps(self.to_json(), indent=1) + "\n")


def _instant(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


def _peak_memory() -> int:
    """Return the peak resident bytes of this program, excluding its parent's."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:  # on other systems
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
