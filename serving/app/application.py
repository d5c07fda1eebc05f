"""The application: the paths, and the periodic work."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial

from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from birthmark.data.common.sizes import size
from birthmark.predictor.allocation.verdicts import RegionCapacity
from birthmark.serving.access.tokens import LOOK_SECONDS, Tokens
from birthmark.serving.app.openapi import describe
from birthmark.serving.app.routes import router
from birthmark.serving.live.received import LOOK_SECONDS as SILENCE_SECONDS
from birthmark.serving.live.received import Receiver
from birthmark.serving.log import service_log
from birthmark.serving.log.sampling import logged
from birthmark.serving.messages.error_responses import HANDLERS
from birthmark.serving.metrics.metrics import Metrics
from birthmark.serving.models.images import Tallies, live_history
from birthmark.serving.models.threshold_watcher import ThresholdWatcher
from birthmark.serving.page.history import SAMPLE_SECONDS
from birthmark.serving.page.routes import router as pages
from birthmark.serving.page.view import Page
from birthmark.serving.service.model_slot import ModelSlot
from birthmark.serving.service.service import Service
from birthmark.serving.settings import Settings
from birthmark.training.registry.versions import Registry

Work = Callable[[], Awaitable[object] | None]
"""Periodic work, beside the requests."""

ADD_SECONDS = 1.0
"""Maximum lag of the counters of answers."""

THRESHOLD_SECONDS = 0.5
"""Polling interval for updated thresholds."""


class RequestIds:
    """An ASGI application that sets the current request's id, for the log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on."""
        if scope["type"] == "http":
            service_log.request.set(service_log.id_of(scope))
        await self.app(scope, receive, send)


def create_app(settings: Settings, tallies: Tallies | None = None) -> FastAPI:
    """Return the application that answers from the registry of `settings`.

    It has its own metrics, which also count the answers in `tallies`. At start it loads the
    published model. While none is loaded, requests get 503. It stands behind a `Front`, which
    checks access and keeps the limits.
    """
    app = FastAPI(
        title="Birthmark",
        summary="Predicts what a file will become at the moment it is created",
        lifespan=partial(_lifespan, settings, tallies),
        exception_handlers=HANDLERS,
        redirect_slashes=False,
        # FastAPI's pages of documentation load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(router)
    app.include_router(pages)
    app.openapi = cache(partial(describe, app))  # type: ignore[method-assign]
    app.add_middleware(RequestIds)
    return app


@asynccontextmanager
async def _lifespan(
    settings: Settings, tallies: Tallies | None, app: FastAPI
) -> AsyncIterator[None]:
    """Set the state of the application, and do the periodic work."""
    metrics = Metrics(settings.stale_days, tallies)
    tokens = None if settings.tokens is None else Tokens(settings.tokens, metrics.tokens_read)
    registry = Registry(settings.registry)
    room = RegionCapacity.of(size(settings.region))
    live = live_history(settings)
    slot = ModelSlot(registry, settings.model, settings.point, room, metrics, live)
    thresholds = ThresholdWatcher(settings.history, live)
    metrics.watch_live_history(live, lambda: thresholds.in_force(slot.model))
    await slot.refresh()
    with logged(settings, metrics.registry) as log:
        receiver = Receiver(settings, lambda: slot.model) if settings.receive else None
        service = Service(
            settings,
            slot,
            metrics,
            log,
            tokens,
            live=live,
            receiver=receiver,
            thresholds=thresholds,
        )
        page = Page(service, registry)
        app.state.service, app.state.page = service, page
        work: list[tuple[float, Work]] = [
            (settings.poll_seconds, slot.refresh),
            (ADD_SECONDS, metrics.add_answers),
            (THRESHOLD_SECONDS, lambda: asyncio.to_thread(thresholds.refresh, slot.model)),
            (SAMPLE_SECONDS, partial(asyncio.to_thread, page.history.take)),
        ]
        if tokens is not None:
            work.append((LOOK_SECONDS, partial(asyncio.to_thread, tokens.refresh)))
        if receiver is not None:
            work.append((SILENCE_SECONDS, partial(asyncio.to_thread, receiver.release_if_silent)))
        tasks = [asyncio.create_task(_repeat(*each)) for each in work]
        yield
    for task in tasks:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    metrics.add_answers()


async def _repeat(seconds: float, work: Work) -> None:
    """Do `work` for ever, with pauses of `seconds`."""
    while True:
        await asyncio.sleep(seconds)
        if (pending := work()) is not None:
            await pending
