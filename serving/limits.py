"""How much a worker takes on at once, so that what it took on is answered in time and fits.

Of what waits on clients (bodies on their way in, answers on their way out) the bytes are bounded;
of what the worker itself has to do, the requests. What is beyond gets 503 and ``Retry-After``.
"""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from serving.errors import ApiError
from serving.settings import Settings

RETRY_SECONDS = 1
"""When to ask again, as ``Retry-After`` says."""

HELD_BODIES = 8
"""How many bodies of the largest size may be on their way, in or out, at once."""

EXPLANATIONS = "/v1/explanations"

EXPLAINED = 2
"""How many requests for evidence are worked on at once: each may take 100 MB."""

WAITING = 4096
"""How many requests may wait at once for another image."""

SPARE_FILES = 128
"""File descriptors that are not for connections: libraries, models, the log."""


def overloaded(what: str) -> ApiError:
    """Return the error of a request that is one too many."""
    return ApiError("overloaded", what, {"retry-after": str(RETRY_SECONDS)})


@dataclass
class Limits:
    """What one worker has taken on: `open` are its connections, of `connections` at most."""

    settings: Settings
    connections: int
    open: set[Any] = field(default_factory=set)
    requests: int = 0
    explained: int = 0
    waiting: int = 0
    held: int = 0
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def most_held(self) -> int:
        """Return how many bytes may be on their way at once."""
        return HELD_BODIES * self.settings.max_body_bytes

    def in_time(self, queued: float) -> None:
        """Raise `ApiError` where a request has waited so long that others would wait longer."""
        if queued > self.settings.queue_seconds:
            raise overloaded(f"the request was not begun within {self.settings.queue_seconds} s")

    def begin(self, path: str) -> None:
        """Count a request for `path`, whole, as worked on; raise `ApiError` if it is too many."""
        if self.requests >= self.settings.max_requests:
            raise overloaded(f"{self.requests} requests are being worked on")
        if path == EXPLANATIONS:
            if self.explained >= EXPLAINED:
                raise overloaded(f"{self.explained} requests for evidence are being worked on")
            self.explained += 1
        self.requests += 1

    def end(self, path: str) -> None:
        """Count it no more."""
        self.requests -= 1
        if path == EXPLANATIONS:
            self.explained -= 1

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Count a request not as worked on, but as waiting for something to happen."""
        self.requests -= 1
        self.waiting += 1
        try:
            yield
        finally:
            self.waiting -= 1
            self.requests += 1

    @contextmanager
    def holding(self, size: int) -> Iterator[None]:
        """Count `size` bytes as on their way; raise `ApiError` if they are too many."""
        if self.held + size > self.most_held:
            raise overloaded(f"{self.held} bytes of others are on their way")
        self.held += size
        try:
            yield
        finally:
            self.held -= size


def allow_files(connections: int) -> int:
    """Raise this process's limit of open files for `connections`; return how many it allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = connections + SPARE_FILES
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    return max(allowed - SPARE_FILES, 1)
