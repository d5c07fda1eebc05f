"""Responses for errors, all of one JSON shape; browsers get a page instead (`html`).

    {"error": {"type": "invalid_request", "message": "…", "field": "[3].mode", "value": "0888"}}

`type` is one of `errors.TYPES`. `field` and `value` name the faulty member of the request, and are
null if there is no single one.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Scope

from birthmark.serving.messages import excerpts, html
from birthmark.serving.messages.errors import TYPES, ApiError
from birthmark_native import InvalidRequestError

if TYPE_CHECKING:
    from birthmark.serving.messages.responses import ErrorResponse

_TYPE_OF = {404: "not_found", 405: "method_not_allowed"}

_MESSAGE = 500
"""The longest message, in characters: it may quote the request."""


def error_response(
    type: str,
    message: str,
    field: str | None = None,
    value: Any = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """Return the response for an error of a `type` in `TYPES`, with its message shortened."""
    body: ErrorResponse = {
        "error": {
            "type": type,
            "message": excerpts.text(message, _MESSAGE),
            "field": field and excerpts.text(field),
            "value": value,
        }
    }
    # A request's numbers may be infinite, which JSON does not have.
    content = to_json(body, inf_nan_mode="strings")
    return Response(content, TYPES[type], headers, media_type="application/json")


def response_of(error: ApiError, scope: Scope | None = None) -> Response:
    """Return the response for an error, a page if a browser requested one."""
    if scope is not None and html.wanted(scope["method"], scope["headers"]):
        return html.error_page(error.type, TYPES[error.type], error.headers)
    return error_response(error.type, str(error), error.field, error.value, error.headers)


async def _api_error(request: Request, error: ApiError) -> Response:
    return response_of(error, request.scope)


async def _http_error(request: Request, error: HTTPException) -> Response:
    message = f"{request.method} {request.url.path}: {error.detail}"
    headers = dict(error.headers or {})
    if error.status_code == 405:
        headers["Allow"] = _allowed(request, headers.get("Allow", ""))
    return response_of(ApiError(_TYPE_OF[error.status_code], message, headers), request.scope)


def _allowed(request: Request, allow: str) -> str:
    """Return all methods of a path; `allow` has those of only one of its routes."""
    described = request.app.openapi()["paths"].get(request.url.path, {})
    methods = {method.upper() for method in described} | {name.strip() for name in allow.split(",")}
    return ", ".join(sorted(methods - {""}))


async def _invalid(request: Request, error: InvalidRequestError) -> Response:
    type = "invalid_request" if error.is_json else "invalid_json"
    return error_response(type, str(error), error.field, excerpts.read(error.found))


async def _disconnected(request: Request, error: ClientDisconnect) -> Response:
    return error_response("disconnected", "the client left before its request was complete")


async def _internal(request: Request, error: Exception) -> Response:
    return response_of(ApiError("internal", "the service failed; its log says how"), request.scope)


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    ApiError: _api_error,
    HTTPException: _http_error,
    InvalidRequestError: _invalid,
    ClientDisconnect: _disconnected,
    Exception: _internal,
}
"""The exception handlers of the service."""
