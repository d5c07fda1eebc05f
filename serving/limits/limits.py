"""How much a worker takes on at once, so that what it took on is answered in time and fits.

Of what waits on clients (bodies on their way in, answers on their way out) the bytes are bounded;
of what the worker itself has to do, the requests. What is beyond gets 503 and ``Retry-After``.
"""

from __future__ import annotations

import asyncio
import logging
import resource
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from birthmark.serving.limits.byte_budget import ByteBudget
from birthmark.serving.messages.error_responses import raw
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.settings import Settings

log = logging.getLogger(__name__)

RETRY_SECONDS = 1
"""When to ask again, as ``Retry-After`` says."""

HELD_BODIES = 2
"""How many bodies of the largest size may be on their way, in or out, at once."""

EXPLANATIONS = "/v1/explanations"

EXPLAINED = 1
"""How many requests for evidence are worked on at once: each may take 100 MB."""

BATCHES = 2
"""How many requests with large bodies are worked on at once: each may take 50 MB."""

SMALL = 64 * 1024
"""The largest body that is not large, bytes."""

WAITING = 4096
"""How many requests may wait at once for another image."""

SPARE_FILES = 128
"""File descriptors that are not for connections: libraries, models, the log."""


@dataclass
class Limits:
    """What one worker has taken on: `open` and `arriving` connections, of `connections` at most.

    Others wait in the `lobby`. Those `arriving` have not agreed upon TLS yet; those `idle` are open
    and ask nothing; those `sending` have begun a request that is not whole: of each, first who has
    been so longest. `queued` are requests whose task has not begun, `requests` those that are
    worked on: of each there are `Settings.max_requests` at most. `room` is that for bytes on their
    way. `busy` is the answer to a request that could not be begun soon, with and without closing
    the connection. `shed` is called with how many requests, or connections, there was no room for.
    """

    settings: Settings
    connections: int
    shed: Callable[[int], None]
    open: set[Any] = field(default_factory=set)
    idle: dict[Any, None] = field(default_factory=dict)
    arriving: dict[Any, None] = field(default_factory=dict)
    sending: dict[Any, None] = field(default_factory=dict)
    batches: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(BATCHES))
    explanations: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(EXPLAINED))
    requests: int = 0
    waiting: int = 0
    queued: int = 0
    lobby: Any = None
    room: ByteBudget = field(init=False)
    busy: tuple[bytes, bytes] = field(init=False)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Make the room for bytes on their way, and what is said where too much waits."""
        self.room = ByteBudget(HELD_BODIES * self.settings.max_body_bytes, self.overloaded)
        error = _overloaded(f"{self.settings.max_requests} requests wait to be begun")
        self.busy = raw(error), raw(error, close=False)

    def make_room(self) -> bool:
        """Tell whether there are no more connections than may be; close one, if that helps.

        It is one that is idle, or else arrives, or else sends; that which has been so longest.
        """
        if len(self.open) + len(self.arriving) <= self.connections:
            return True
        if (idle := next(iter(self.idle), None)) is not None:
            del self.idle[idle]
            idle.transport.abort()
            return True
        if (arriving := next(iter(self.arriving), None)) is not None:
            arriving.leave()
            return True
        if (sending := next(iter(self.sending), None)) is not None:
            del self.sending[sending]
            sending.refuse(self.overloaded("others came, and as many are connected as may be"))
            return True
        return False

    def overloaded(self, what: str) -> ApiError:
        """Return the error of a request that is one too many, which is counted."""
        self.shed(1)
        return _overloaded(what)

    def in_time(self, queued: float) -> None:
        """Raise `ApiError` for a request that was `queued` (seconds) for too long."""
        if queued > self.settings.queue_seconds:
            most = self.settings.queue_seconds
            raise self.overloaded(f"the request was not begun within {most} s")

    def begin(self) -> None:
        """Count a request, whole, as worked on; raise `ApiError` if it is too many."""
        if self.requests >= self.settings.max_requests:
            raise self.overloaded(f"{self.requests} requests are being worked on")
        self.requests += 1

    def end(self) -> None:
        """Count it no more."""
        self.requests -= 1

    def turns(self, path: str, size: int) -> asyncio.Semaphore | None:
        """Return what a request has to wait its turn for; None where it need not."""
        if path == EXPLANATIONS:
            return self.explanations
        return self.batches if size > SMALL else None

    @asynccontextmanager
    async def turn(self, turns: asyncio.Semaphore) -> AsyncIterator[None]:
        """Wait for a turn; raise `ApiError` if none comes before requests must be begun."""
        try:
            await asyncio.wait_for(turns.acquire(), self.settings.queue_seconds)
        except TimeoutError:
            most = self.settings.queue_seconds
            raise self.overloaded(f"no turn came within {most} s") from None
        try:
            yield
        finally:
            turns.release()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Count a request not as worked on, but as waiting for something to happen.

        Raises `ApiError` if too many wait.
        """
        if self.waiting >= WAITING:
            raise self.overloaded(f"{self.waiting} requests wait for another image")
        self.requests -= 1
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1
            self.requests += 1


def _overloaded(what: str) -> ApiError:
    return ApiError("overloaded", what, {"retry-after": str(RETRY_SECONDS)})


def allow_files(connections: int) -> int:
    """Raise this process's limit of open files for `connections`; return how many it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < wanted:
        log.warning(
            "%d connections, not %d: a process may have %d files open here",
            allowed - SPARE_FILES,
            connections,
            allowed,
        )
    return max(allowed - SPARE_FILES, 1)
