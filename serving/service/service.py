"""The objects that the paths of the service share, and the queues of work for one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from fastapi.concurrency import run_in_threadpool

from birthmark.serving.access.tokens import Tokens
from birthmark.serving.live.received import Receiver
from birthmark.serving.log.sampling import LogSampler
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.models.hint_image import Hints
from birthmark.serving.models.loaded import LoadedModel
from birthmark.serving.models.threshold_watcher import ThresholdWatcher
from birthmark.serving.service.model_slot import ModelSlot
from birthmark.serving.settings import Settings
from birthmark_native import SharedHistory

MOST_PENDING = 8
"""The most requests that may wait for one kind of work."""

_Result = TypeVar("_Result")


class SerialQueue:
    """A queue for one kind of work, which runs for one request at a time."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._pending = 0

    async def run(self, work: Callable[[], _Result]) -> _Result:
        """Return the result of `work`; raise `ApiError` if too many requests wait already."""
        if self._pending > MOST_PENDING:
            what = f"{MOST_PENDING} others wait for the same"
            raise ApiError("overloaded", what, {"retry-after": "1"})
        self._pending += 1
        try:
            async with self._lock:
                return await run_in_threadpool(work)
        finally:
            self._pending -= 1


@dataclass(frozen=True)
class Service:
    """The objects that the paths of the service share."""

    settings: Settings
    slot: ModelSlot
    metrics: Metrics
    log_sampler: LogSampler = field(default_factory=LogSampler)
    tokens: Tokens | None = None
    live: SharedHistory | None = None
    thresholds: ThresholdWatcher = field(default_factory=ThresholdWatcher)
    receiver: Receiver | None = None
    receiving: SerialQueue = field(default_factory=SerialQueue)
    reporting: SerialQueue = field(default_factory=SerialQueue)
    scraping: SerialQueue = field(default_factory=SerialQueue)

    def model(self) -> LoadedModel:
        """Return the current model; raise `ApiError` while there is none."""
        if self.slot.model is None:
            raise ApiError("no_model", f"no model is loaded from {self.settings.registry} yet")
        return self.slot.model

    def hints(self) -> tuple[LoadedModel, Hints]:
        """Return the current model and its hints; raise `ApiError` while there are none."""
        loaded = self.model()
        if loaded.hints is None:
            raise ApiError(
                "no_hints", f"model {loaded.version} has not learned HotName and HotWrite"
            )
        return loaded, loaded.hints
