"""Work that nobody else waits for: in a thread, one piece after the other."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from fastapi.concurrency import run_in_threadpool

from birthmark.serving.limits.limits import Limits

WAITING = 8
"""How many requests may wait for one kind of work."""

_Result = TypeVar("_Result")


class SerialQueue:
    """A kind of work that is done for one request at a time."""

    def __init__(self) -> None:
        self._one = asyncio.Lock()
        self._there = 0

    async def run(self, limits: Limits, work: Callable[[], _Result]) -> _Result:
        """Return what `work` returns; raise `ApiError` where too many wait already."""
        if self._there > WAITING:
            raise limits.overloaded(f"{WAITING} others wait for the same")
        self._there += 1
        try:
            async with self._one:
                return await run_in_threadpool(work)
        finally:
            self._there -= 1
