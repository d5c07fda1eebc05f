"""Work done in a thread, one piece at a time, without holding up other requests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from fastapi.concurrency import run_in_threadpool

from birthmark.serving.limits.limits import Limits

MOST_PENDING = 8
"""The most requests that may wait for one kind of work."""

_Result = TypeVar("_Result")


class SerialQueue:
    """A queue for one kind of work, which runs for one request at a time."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._pending = 0

    async def run(self, limits: Limits, work: Callable[[], _Result]) -> _Result:
        """Return the result of `work`; raise `ApiError` if too many requests wait already."""
        if self._pending > MOST_PENDING:
            raise limits.overloaded(f"{MOST_PENDING} others wait for the same")
        self._pending += 1
        try:
            async with self._lock:
                return await run_in_threadpool(work)
        finally:
            self._pending -= 1
