"""Long polling: holds a request until there is something new (RFC 7240, ``wait``)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import Receive

from birthmark.serving.limits.limits import Limits
from birthmark.serving.service.model_slot import ModelSlot

LONGEST_SECONDS = 300
"""The longest wait: proxies and firewalls drop idle connections."""


def wanted_seconds(prefer: str) -> int:
    """Return the seconds of ``wait`` in a ``Prefer`` field, at most `LONGEST_SECONDS`; else 0."""
    for preference in prefer.split(","):
        name, _, value = preference.partition(";")[0].partition("=")
        value = value.strip().strip('"')
        if name.strip().lower() == "wait" and value.isascii() and value.isdigit():
            return min(int(value[:9]), LONGEST_SECONDS)
    return 0


async def until(
    is_new: Callable[[], bool], slot: ModelSlot, limits: Limits, receive: Receive, seconds: int
) -> None:
    """Return when `is_new` is true after a change of the model, or after `seconds`.

    Returns early if the client leaves or the service stops. Raises `ApiError` if too many requests
    are parked.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    with limits.parked():
        ends = {
            asyncio.ensure_future(_left(receive)),
            asyncio.ensure_future(limits.stopping.wait()),
        }
        try:
            while not is_new() and (left := end - loop.time()) > 0:
                change = asyncio.ensure_future(slot.changed.wait())
                events = {change, *ends}
                done, _ = await asyncio.wait(events, timeout=left, return_when="FIRST_COMPLETED")
                change.cancel()
                if done & ends:
                    return
        finally:
            for event in ends:
                event.cancel()


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
