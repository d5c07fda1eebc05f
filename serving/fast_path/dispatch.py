"""Dispatch of the busiest paths, for which FastAPI's routing would cost more than the answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from fastapi import Request, Response
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Receive, Scope, Send

from birthmark.serving.messages.error_responses import HANDLERS
from birthmark.serving.messages.errors import ApiError
from birthmark_native import InvalidRequestError

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
