"""A circuit breaker, as in the file systems' hook (``layout_hint/hook``)."""

from __future__ import annotations

import time
from collections.abc import Callable

FAILURES = 5
"""Consecutive failures that open a breaker."""

FIRST_SECONDS, LONGEST_SECONDS = 0.1, 30.0
"""The first pause between requests, and the longest; the pause doubles with each failure."""


class Breaker:
    """Opens after consecutive failures, and then lets single probes through until one succeeds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures = 0
        self._wait = 0.0
        self._until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether only probes may be sent."""
        return self._wait > 0

    def may_ask(self) -> bool:
        """Return whether to send a request; while the breaker is open, one after each pause."""
        if not self.is_open:
            return True
        now = self._now()
        if now < self._until:
            return False
        self._until = now + self._wait
        return True

    def succeeded(self) -> None:
        """Record an answer."""
        self._failures, self._wait = 0, 0.0

    def failed(self) -> None:
        """Record a failure."""
        self._failures += 1
        if self.is_open:
            self._wait = min(2 * self._wait, LONGEST_SECONDS)
        elif self._failures >= FAILURES:
            self._wait = FIRST_SECONDS
        self._until = self._now() + self._wait
