"""The paths that are requested at every create: predictions and hints.

The front answers them, except predictions in Arrow (``native/service/src/routes.rs``).
"""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool

from birthmark.serving.answers import arrow_answers
from birthmark.serving.messages.requests import wants_three
from birthmark.serving.service.service import Service


async def predictions(request: Request) -> Response:
    """Predict what a file, or each of a list, will become, from the compiled image."""
    service = service_of(request)
    body = await request.body()
    three = wants_three(request.scope["query_string"])
    model = service.model()
    answer, creates = await run_in_threadpool(arrow_answers.answer, model, body, three)
    service.log_sampler.stream(model, creates)
    return Response(answer, media_type=arrow_answers.MEDIA_TYPE.decode())


async def hints(request: Request) -> Response:
    """Return the hints for a create: the bits of a verdict, 0 to 7."""
    raise NotImplementedError("the front answers this")


def service_of(request: Request) -> Service:
    """Return the service that `request` was made to."""
    service: Service = request.app.state.service
    return service
