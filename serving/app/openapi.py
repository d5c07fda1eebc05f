"""The OpenAPI document of the service, ``docs/openapi.json``."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from birthmark.data.follow.updates import MEDIA_TYPE
from birthmark.serving.access.paths import changes, needed, own_errors
from birthmark.serving.messages.errors import TYPES
from birthmark.serving.messages.requests import BINARY

VERSION = "1"
"""The version of the API; its paths begin with it."""

_ANY = {400, 408, 413, 431, 500, 503}
"""Statuses of errors that every request may get."""

_WITH_BODY = {422}
_WITH_TOKEN = {401, 403}
_ON_CHANGE = {403, 415, 421}

_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": "how to show a token"},
    403: {"WWW-Authenticate": "the scope that is needed"},
    503: {"Retry-After": "seconds after which to retry, if the service is overloaded"},
}
_PHRASES = {413: "Content Too Large", 422: "Unprocessable Content"}
"""Reason phrases of RFC 9110; before 3.13, Python has those of older RFCs."""

_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "a token"},
    "basic": {"type": "http", "scheme": "basic", "description": "a token as the password"},
}
_ANSWERS = {
    "name": "answers",
    "in": "query",
    "description": "with `three`, a stream also has each predicate's answer and probability",
    "schema": {"type": "string", "enum": ["three"]},
}
_TAG = {"ETag": {"schema": {"type": "string"}, "description": "of this image"}}


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    document = get_openapi(title=app.title, version=VERSION, summary=app.summary, routes=app.routes)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _complete(path, method, operation)
    _add_other_formats(document["paths"])
    components = document["components"]
    components["responses"] = {
        f"Error{status}": _error(status) for status in sorted(set(TYPES.values()))
    }
    components["securitySchemes"] = _SECURITY
    described: dict[str, Any] = _with_integers(document)
    return described


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    """Add the scopes that the guard checks, and the errors."""
    scope = needed(method.upper(), path)
    statuses = _ANY | own_errors(method.upper(), path)
    if "requestBody" in operation:
        statuses |= _WITH_BODY
    if changes(method.upper(), path):
        statuses |= _ON_CHANGE
    if scope is not None:
        statuses |= _WITH_TOKEN
        operation["security"] = [{"bearer": []}, {"basic": []}, {}]
        operation["description"] += f" Needs the scope `{scope}` if the service has tokens."
    responses = operation["responses"]
    responses.pop("default")
    for status in sorted(statuses):
        responses[str(status)] = {"$ref": f"#/components/responses/Error{status}"}


def _add_other_formats(paths: dict[str, Any]) -> None:
    """Add parameters, header fields, and bodies that are not JSON."""
    predictions = paths["/v1/predictions"]["post"]
    predictions["parameters"] = [_ANSWERS]
    predictions["requestBody"]["content"][MEDIA_TYPE] = BINARY
    predictions["responses"]["200"]["content"][MEDIA_TYPE] = BINARY
    image = paths["/v1/model/image"]["get"]
    image["parameters"] = [
        _header("If-None-Match", "the tag of the image that the client has"),
        _header("Prefer", "`wait=SECONDS` (RFC 7240): answer when there is another image"),
    ]
    image["responses"]["200"] = {
        "description": "The image",
        "headers": _TAG,
        "content": {"application/octet-stream": BINARY},
    }
    image["responses"]["304"] = {"description": "The client has it", "headers": _TAG}
    metrics = paths["/metrics"]["get"]["responses"]
    metrics["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}


def _header(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string"}
    return {"name": name, "in": "header", "description": description, "schema": schema}


def _error(status: int) -> dict[str, Any]:
    """Return the response for a status, with the types of its errors (`TYPES`)."""
    detail = {
        "type": {
            "type": "string",
            "enum": [type for type, code in TYPES.items() if code == status],
        },
        "message": {"type": "string"},
        "field": {"type": ["string", "null"]},
        "value": {},
    }
    response: dict[str, Any] = {
        "description": _PHRASES.get(status, HTTPStatus(status).phrase),
        "content": {"application/json": {"schema": _of({"error": _of(detail)})}},
    }
    if status in _HEADERS:
        response["headers"] = {
            name: {"description": what, "schema": {"type": "string"}}
            for name, what in _HEADERS[status].items()
        }
    return response


def _of(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with exactly these members."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def _with_integers(value: Any) -> Any:
    """Return a document with whole numbers as integers: FastAPI writes 4095 as 4095.0."""
    if isinstance(value, dict):
        return {key: _with_integers(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_with_integers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
