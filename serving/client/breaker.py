"""When to stop asking for a while: as the file systems' hook does (``layout_hint/hook``)."""

from __future__ import annotations

import time
from collections.abc import Callable

FAILURES = 5
"""So many failures in a row open a breaker."""

FIRST_SECONDS, LONGEST_SECONDS = 0.1, 30.0
"""For how long nothing is asked then, and what that is doubled up to."""


class Breaker:
    """Opens after failures in a row; then one question in a while probes, until one is answered."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._failures = 0
        self._wait = 0.0
        self._until = 0.0

    @property
    def is_open(self) -> bool:
        """Whether only probes are asked."""
        return self._wait > 0

    def may_ask(self) -> bool:
        """Tell whether a question may be asked; while the breaker is open, one after each wait."""
        if not self.is_open:
            return True
        now = self._now()
        if now < self._until:
            return False
        self._until = now + self._wait
        return True

    def succeeded(self) -> None:
        """Take note of an answer."""
        self._failures, self._wait = 0, 0.0

    def failed(self) -> None:
        """Take note that there was none."""
        self._failures += 1
        if self.is_open:
            self._wait = min(2 * self._wait, LONGEST_SECONDS)
        elif self._failures >= FAILURES:
            self._wait = FIRST_SECONDS
        self._until = self._now() + self._wait
