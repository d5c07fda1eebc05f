"""The FastAPI application."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from fastapi import FastAPI
from fastapi.routing import APIRoute

from data.sizes import size
from predictor.hints import Room
from serving.errors import HANDLERS
from serving.metrics import Measured, Metrics
from serving.models import ModelSlot
from serving.routes import Service, State, router
from serving.settings import Settings
from training.registry import Registry


def create_app(settings: Settings) -> FastAPI:
    """Return the application that answers from the registry of `settings`.

    It has its own metrics. Once started it answers at once, with 503 until a model is loaded.
    """
    metrics = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[State]:
        registry = Registry(settings.registry)
        room = Room.of(size(settings.region))
        slot = ModelSlot(registry, settings.model, settings.point, room, metrics)
        await slot.refresh()
        watching = asyncio.create_task(slot.watch(settings.poll_seconds))
        yield {"service": Service(settings, slot, metrics)}
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching

    app = FastAPI(
        title="Birthmark",
        summary="Predicts what a file will become at the moment it is created",
        lifespan=lifespan,
        exception_handlers=HANDLERS,
        redirect_slashes=False,
        # Their pages load scripts from elsewhere; /openapi.json describes the service.
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(router)
    routes = frozenset(route.path for route in router.routes if isinstance(route, APIRoute))
    app.add_middleware(Measured, metrics=metrics, routes=routes)
    return app
