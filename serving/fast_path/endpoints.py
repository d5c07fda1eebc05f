"""The paths that are requested at every create: predictions and hints, from compiled images."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from birthmark.serving.answers import arrow_answers
from birthmark.serving.answers.json_answers import hint, predict
from birthmark.serving.messages.error_responses import HANDLERS
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.messages.requests import wants_three
from birthmark.serving.service.service import Service
from birthmark_native import InvalidRequestError

AT_ONCE = 16 * 1024
"""The largest body, bytes, that is answered in the event loop; larger ones go to a thread."""

_Answer = TypeVar("_Answer")
_Model = TypeVar("_Model")


class Answer(Response):
    """A response with a minimal head."""

    def __init__(self, body: bytes, media_type: bytes = b"application/json") -> None:
        self.body = body
        self.raw_headers = [
            (b"content-length", b"%d" % len(body)),
            (b"content-type", media_type),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
        await send(start)
        await send({"type": "http.response.body", "body": self.body})


async def _run(answer: Callable[[_Model, bytes], _Answer], model: _Model, body: bytes) -> _Answer:
    """Return the answer to a body, computed in a thread if that may take long."""
    if len(body) <= AT_ONCE:
        return answer(model, body)
    return await run_in_threadpool(answer, model, body)


async def predictions(request: Request) -> Response:
    """Predict what a file, or each of a list, will become, from the compiled image."""
    service = service_of(request)
    body = await body_of(request)
    three = wants_three(request.scope["query_string"])
    model = service.model()
    if arrow_answers.is_arrow(request.scope["headers"]):
        answer, creates = await run_in_threadpool(arrow_answers.answer, model, body, three)
        service.log_sampler.stream(model, creates)
        return Answer(answer, arrow_answers.MEDIA_TYPE)
    answer, files, seen = await _run(predict, model, body)
    service.log_sampler.predictions(model, body, files, seen)
    return Answer(answer)


async def hints(request: Request) -> Response:
    """Return the hints for a create: the bits of a verdict, 0 to 7."""
    service = service_of(request)
    body = await body_of(request)
    model, image = service.hints()
    verdict = await _run(hint, image, body)
    service.log_sampler.hint(model, body, verdict)
    return Answer(b"%d" % verdict)


def service_of(request: Request) -> Service:
    """Return the service that `request` was made to."""
    service: Service = request.scope["state"]["service"]
    return service


async def body_of(request: Request) -> bytes:
    """Return a request's body, which the guard passes on in one message."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    body: bytes = message.get("body", b"")
    return body


Endpoint = Callable[[Request], Awaitable[Response]]


class FastPath:
    """An ASGI application that passes POST requests to `endpoints`, by path.

    The endpoints are also routes of `app`, which describes them and answers all other requests.
    """

    def __init__(self, app: ASGIApp, endpoints: Mapping[str, Endpoint]) -> None:
        self.app = app
        self.endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass the call on."""
        endpoint = self.endpoints.get(scope.get("path", ""))
        if endpoint is None or scope["type"] != "http" or scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await endpoint(request)
        except (ApiError, InvalidRequestError, ClientDisconnect) as error:
            response = await HANDLERS[type(error)](request, error)
        await response(scope, receive, send)
