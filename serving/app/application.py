"""The FastAPI application."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache, partial
from typing import TypedDict

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from birthmark.data.common.sizes import size
from birthmark.predictor.allocation.verdicts import RegionCapacity
from birthmark.serving.access.guard import Guard
from birthmark.serving.access.tokens import Tokens
from birthmark.serving.app.openapi import describe
from birthmark.serving.app.routes import FAST_PATH, router
from birthmark.serving.fast_path.endpoints import FastPath
from birthmark.serving.http.connections import LOOK_SECONDS, check_connections
from birthmark.serving.http.tls import context
from birthmark.serving.limits.limits import Limits, allow_files
from birthmark.serving.live.received import LOOK_SECONDS as SILENCE_SECONDS
from birthmark.serving.live.received import Receiver
from birthmark.serving.log.sampling import logged
from birthmark.serving.messages.error_responses import HANDLERS
from birthmark.serving.metrics.metrics import Measured, Metrics
from birthmark.serving.models.threshold_watcher import ThresholdWatcher
from birthmark.serving.page.history import SAMPLE_SECONDS
from birthmark.serving.page.routes import router as pages
from birthmark.serving.page.view import Page
from birthmark.serving.service.model_slot import ModelSlot
from birthmark.serving.service.service import Service
from birthmark.serving.settings import Settings
from birthmark.training.registry.versions import Registry
from birthmark_native import SharedHistory

Work = Callable[[], Awaitable[object] | None]
"""Periodic work, beside the requests."""


class State(TypedDict):
    """The ``state`` of every request."""

    service: Service
    limits: Limits
    page: Page
    tls: ssl.SSLContext | None


class Application(FastAPI):
    """FastAPI's application behind `front`, which every request passes first.

    FastAPI's own middleware costs about as much as an answer; predictions and hints bypass it.
    """

    front: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call to `front`."""
        await self.front(scope, receive, send)


ADD_SECONDS = 1.0
"""Maximum lag of a worker's counters in another worker's /metrics."""

THRESHOLD_SECONDS = 0.5
"""Polling interval for updated thresholds."""


def create_app(settings: Settings) -> FastAPI:
    """Return the application that answers from the registry of `settings`.

    It has its own metrics. At start it loads the published model. While none is loaded, requests
    get 503.
    """
    metrics = Metrics(settings.stale_days)
    limits = Limits(settings, allow_files(settings.max_connections), metrics.shed)
    tokens = None if settings.tokens is None else Tokens(settings.tokens, metrics.tokens_read)

    app = Application(
        title="Birthmark",
        summary="Predicts what a file will become at the moment it is created",
        lifespan=lambda _: _lifespan(settings, metrics, limits, tokens),
        exception_handlers=HANDLERS,
        redirect_slashes=False,
        # FastAPI's pages of documentation load scripts from elsewhere.
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(router)
    app.include_router(pages)
    app.openapi = cache(partial(describe, app))  # type: ignore[method-assign]
    every = [*router.routes, *pages.routes]
    routes = frozenset(route.path for route in every if isinstance(route, APIRoute))
    fast_path = FastPath(partial(FastAPI.__call__, app), FAST_PATH)
    app.front = Measured(Guard(fast_path, limits, tokens), metrics, routes, settings.log_access)
    return app


def live_history(settings: Settings) -> SharedHistory | None:
    """Return the live history of the `settings`, if any."""
    if settings.history is None:
        return None
    limits = settings.history_age, settings.history_lag, settings.history_loss
    return SharedHistory(settings.history, *limits)


@asynccontextmanager
async def _lifespan(
    settings: Settings, metrics: Metrics, limits: Limits, tokens: Tokens | None
) -> AsyncIterator[State]:
    """Yield the state for requests, while the periodic work runs."""
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
            limits,
            log,
            tokens,
            live=live,
            receiver=receiver,
            thresholds=thresholds,
        )
        page = Page(service, registry)
        work: list[tuple[float, Work]] = [
            (settings.poll_seconds, slot.refresh),
            (LOOK_SECONDS, partial(check_connections, limits)),
            (ADD_SECONDS, metrics.add_answers),
            (THRESHOLD_SECONDS, lambda: asyncio.to_thread(thresholds.refresh, slot.model)),
            (SAMPLE_SECONDS, partial(asyncio.to_thread, page.history.take)),
        ]
        if tokens is not None:
            work.append((LOOK_SECONDS, partial(asyncio.to_thread, tokens.refresh)))
        if receiver is not None:
            work.append((SILENCE_SECONDS, partial(asyncio.to_thread, receiver.release_if_silent)))
        tasks = [asyncio.create_task(_repeat(*each)) for each in work]
        yield {"service": service, "limits": limits, "page": page, "tls": context(settings)}
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
