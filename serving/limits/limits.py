"""Limits of one worker, so that accepted requests are answered in time and fit in memory.

They bound the bytes in transfer (request bodies and answers) and the number of concurrent requests.
Excess requests get 503 with ``Retry-After``.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from birthmark.serving.limits.byte_budget import ByteBudget
from birthmark.serving.messages.error_responses import raw
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.settings import Settings


class Handshake(Protocol):
    """An accepted connection that is not open yet."""

    address: int

    def close(self) -> None:
        """Close the connection."""


class Handshakes:
    """The pending handshakes, at most ``most`` for each address.

    Another handshake from an address closes its oldest.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._by_address: dict[int, dict[Handshake, None]] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def add(self, handshake: Handshake) -> None:
        """Add a handshake."""
        if len(self._by_address.get(handshake.address, ())) >= self._most:
            self._oldest(handshake.address).close()
        self._by_address.setdefault(handshake.address, {})[handshake] = None
        self._count += 1

    def discard(self, handshake: Handshake | None) -> None:
        """Remove a handshake, if it is pending."""
        if handshake is None or handshake not in self._by_address.get(handshake.address, ()):
            return
        pending = self._by_address[handshake.address]
        del pending[handshake]
        self._count -= 1
        if not pending:
            del self._by_address[handshake.address]

    def close_oldest(self) -> bool:
        """Close the oldest handshake of the address with most; return whether there was any."""
        if not self._by_address:
            return False
        self._oldest(max(self._by_address, key=lambda each: len(self._by_address[each]))).close()
        return True

    def _oldest(self, address: int) -> Handshake:
        return next(iter(self._by_address[address]))


log = logging.getLogger(__name__)

RETRY_SECONDS = 1
"""The value of ``Retry-After``."""

BODIES = 2
"""The byte budget, in bodies of the largest size."""

READY = 4
"""Ready connections that may be pending, for each concurrent request.

They are accepted within tens of milliseconds; their requests may still get 503. It also limits the
pending handshakes of one address.
"""

EXPLANATIONS = "/v1/explanations"

MOST_EXPLANATIONS = 1
"""The most concurrent requests for evidence: each may take 100 MB."""

MOST_BATCHES = 2
"""The most concurrent requests with large bodies: each may take 50 MB."""

SMALL = 64 * 1024
"""The largest body that does not count as large, bytes."""

MOST_PARKED = 4096
"""The most requests that may wait at once for another image (long polling)."""

SPARE_FILES = 128
"""File descriptors reserved for libraries, models and the log."""


@dataclass
class Limits:
    """The connections and requests of one worker, and their limits.

    - `connections`: the most of `open` connections and pending `handshakes` together; further ones
      wait in the `acceptor`.
    - `count_shed`: called with the number of requests or connections that were refused.
    - `idle`: open connections without a request, oldest first.
    - `sending`: connections whose request is not complete yet, oldest first.
    - `requests`: requests in progress, at most `Settings.max_requests`.
    - `queued`: requests whose task has not begun, at most as many.
    - `parked_requests`: long polls, which do not count as in progress.
    - `budget`: of the bytes in transfer.
    - `busy`: the response to a request that is shed: closing the connection, and keeping it.
    """

    settings: Settings
    connections: int
    count_shed: Callable[[int], None]
    open: set[Any] = field(default_factory=set)
    idle: dict[Any, None] = field(default_factory=dict)
    handshakes: Handshakes = field(init=False)
    sending: dict[Any, None] = field(default_factory=dict)
    batches: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_BATCHES))
    explanations: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(MOST_EXPLANATIONS)
    )
    requests: int = 0
    parked_requests: int = 0
    queued: int = 0
    acceptor: Any = None
    budget: ByteBudget = field(init=False)
    busy: tuple[bytes, bytes] = field(init=False)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Make the byte budget and the response for shed requests."""
        self.handshakes = Handshakes(READY * self.settings.max_requests)
        self.budget = ByteBudget(BODIES * self.settings.max_body_bytes, self.overloaded)
        error = _overloaded(f"{self.settings.max_requests} requests wait to be begun")
        self.busy = raw(error), raw(error, close=False)

    def make_room(self) -> bool:
        """Return whether a connection fits the limit; close another one if need be.

        It closes the oldest idle connection, else a pending handshake of the address with most,
        else the oldest connection with an incomplete request.
        """
        if len(self.open) + len(self.handshakes) <= self.connections:
            return True
        if (idle := next(iter(self.idle), None)) is not None:
            del self.idle[idle]
            idle.transport.abort()
            return True
        if self.handshakes.close_oldest():
            return True
        if (sending := next(iter(self.sending), None)) is not None:
            del self.sending[sending]
            sending.refuse(self.overloaded("the limit of connections is reached, and others came"))
            return True
        return False

    def overloaded(self, what: str) -> ApiError:
        """Count a request that exceeds a limit, and return its error."""
        self.count_shed(1)
        return _overloaded(what)

    def check_queue_time(self, queued: float) -> None:
        """Raise `ApiError` for a request that was `queued` too long (seconds)."""
        if queued > self.settings.queue_seconds:
            most = self.settings.queue_seconds
            raise self.overloaded(f"the request was not begun within {most} s")

    def begin(self) -> None:
        """Count a complete request as in progress; raise `ApiError` if there are too many."""
        if self.requests >= self.settings.max_requests:
            raise self.overloaded(f"{self.requests} requests are in progress")
        self.requests += 1

    def end(self) -> None:
        """Count a request as no longer in progress."""
        self.requests -= 1

    def semaphore_for(self, path: str, size: int) -> asyncio.Semaphore | None:
        """Return the semaphore that a request must acquire; None if it need not."""
        if path == EXPLANATIONS:
            return self.explanations
        return self.batches if size > SMALL else None

    @asynccontextmanager
    async def acquired(self, semaphore: asyncio.Semaphore) -> AsyncIterator[None]:
        """Hold the semaphore; raise `ApiError` if it is not free within `queue_seconds`."""
        try:
            await asyncio.wait_for(semaphore.acquire(), self.settings.queue_seconds)
        except TimeoutError:
            most = self.settings.queue_seconds
            raise self.overloaded(f"the request was not begun within {most} s") from None
        try:
            yield
        finally:
            semaphore.release()

    @contextmanager
    def parked(self) -> Iterator[None]:
        """Count a request as parked, not as in progress; raise `ApiError` if too many are."""
        if self.parked_requests >= MOST_PARKED:
            raise self.overloaded(f"{self.parked_requests} requests wait for another image")
        self.requests -= 1
        self.parked_requests += 1
        try:
            yield
        finally:
            self.parked_requests -= 1
            self.requests += 1


def _overloaded(what: str) -> ApiError:
    return ApiError("overloaded", what, {"retry-after": str(RETRY_SECONDS)})


def allow_files(connections: int) -> int:
    """Raise this process's limit of open files for `connections`; return how many fit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        log.warning(
            "limited to %d connections, not %d: this process may have %d files open",
            allowed - SPARE_FILES,
            connections,
            allowed,
        )
    return max(allowed - SPARE_FILES, 1)
