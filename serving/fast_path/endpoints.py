"""The paths that are asked at every create: predictions and hints, from compiled images."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send

from birthmark.serving.answers import arrow_answers
from birthmark.serving.answers.json_answers import hint, predict
from birthmark.serving.messages.query import wants_three
from birthmark.serving.service.service import Service

AT_ONCE = 16 * 1024
"""Bodies of at most so many bytes are answered at once; longer ones while others are, too."""

_Answer = TypeVar("_Answer")
_Model = TypeVar("_Model")


class Answer(Response):
    """A response whose head is as short as can be."""

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


async def _answered(
    answer: Callable[[_Model, bytes], _Answer], model: _Model, body: bytes
) -> _Answer:
    """Return the answer to a body; nobody else waits for one that takes longer."""
    if len(body) <= AT_ONCE:
        return answer(model, body)
    return await run_in_threadpool(answer, model, body)


async def predictions(request: Request) -> Response:
    """Predict what a file, or each of a list, will become: from the compiled image."""
    service = service_of(request)
    body = await body_of(request)
    three = wants_three(request.scope["query_string"])
    model = service.model()
    if arrow_answers.are_meant(request.scope["headers"]):
        answer, asked = await run_in_threadpool(arrow_answers.answer, model, body, three)
        service.logged.stream(model, asked)
        return Answer(answer, arrow_answers.MEDIA_TYPE)
    answer, files, seen = await _answered(predict, model, body)
    service.logged.predictions(model, body, files, seen)
    return Answer(answer)


async def hints(request: Request) -> Response:
    """Hint to a file system what it is about to create: the bits of a verdict, 0 to 7."""
    service = service_of(request)
    body = await body_of(request)
    model, image = service.hints()
    verdict = await _answered(hint, image, body)
    service.logged.hint(model, body, verdict)
    return Answer(b"%d" % verdict)


def service_of(request: Request) -> Service:
    """Return the service that `request` was made to."""
    service: Service = request.scope["state"]["service"]
    return service


async def body_of(request: Request) -> bytes:
    """Return a request's body, which comes from the guard in one piece, and is not too large."""
    message = await request.receive()
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    body: bytes = message.get("body", b"")
    return body
