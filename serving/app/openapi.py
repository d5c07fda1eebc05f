"""The description of the HTTP interface, as ``docs/openapi.json`` has it.

python -m birthmark.serving.app.openapi > docs/openapi.json
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from birthmark.serving.access.guard import CHANGES, needed
from birthmark.serving.answers import arrow_answers
from birthmark.serving.messages.errors import TYPES
from birthmark.serving.messages.query import ANSWERS
from birthmark.serving.settings import Settings

VERSION = "1"
"""Of the interface; its paths begin with it."""

_ANY = {400, 408, 413, 431, 500, 503}
"""What every request may end in."""

_OF_BODIES = {422}
_OF_TOKENS = {401, 403}
_OF_CHANGES = {403, 415, 421}
_ALSO: Mapping[tuple[str, str], set[int]] = {
    ("/v1/model", "put"): {404, 409},
    ("/v1/hints/report", "post"): {409},
    ("/v1/history", "post"): {404, 409},
}

_HEADERS: Mapping[int, Mapping[str, str]] = {
    401: {"WWW-Authenticate": "how to show a token"},
    403: {"WWW-Authenticate": "the scope that is needed"},
    503: {"Retry-After": "seconds after which to ask again, where others were too many"},
}
_SECURITY = {
    "bearer": {"type": "http", "scheme": "bearer", "description": "a token"},
    "basic": {"type": "http", "scheme": "basic", "description": "a token as the password"},
}
_ANSWERS = {
    "name": "answers",
    "in": "query",
    "description": "with `three`, a stream has each predicate's answer and probability as well",
    "schema": {"type": "string", "enum": list(ANSWERS)},
}
_TAG = {"ETag": {"schema": {"type": "string"}, "description": "of this image"}}


def describe(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document of an application."""
    document = get_openapi(title=app.title, version=VERSION, summary=app.summary, routes=app.routes)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            _complete(path, method, operation)
    _by_hand(document["paths"])
    components = document["components"]
    components["responses"] = {
        f"Error{status}": _error(status) for status in sorted(set(TYPES.values()))
    }
    components["securitySchemes"] = _SECURITY
    whole: dict[str, Any] = _whole(document)
    return whole


def _complete(path: str, method: str, operation: dict[str, Any]) -> None:
    """Add what the guard and the server do: who may ask, and the errors."""
    scope = needed(method.upper(), path)
    statuses = set(_ANY) | _ALSO.get((path, method), set())
    if "requestBody" in operation:
        statuses |= _OF_BODIES
    if (method.upper(), path) in CHANGES:
        statuses |= _OF_CHANGES
    if scope is not None:
        statuses |= _OF_TOKENS
        operation["security"] = [{"bearer": []}, {"basic": []}, {}]
        operation["description"] += f" Needs the scope `{scope}` where there are tokens."
    responses = operation["responses"]
    responses.pop("default")
    for status in sorted(statuses):
        responses[str(status)] = {"$ref": f"#/components/responses/Error{status}"}


def _by_hand(paths: dict[str, Any]) -> None:
    """Add what is neither JSON nor in a body."""
    arrow = arrow_answers.MEDIA_TYPE.decode()
    asked = paths["/v1/predictions"]["post"]
    asked["parameters"] = [_ANSWERS]
    asked["requestBody"]["content"][arrow] = arrow_answers.BINARY
    asked["responses"]["200"]["content"][arrow] = arrow_answers.BINARY
    image = paths["/v1/model/image"]["get"]
    image["parameters"] = [
        _header("If-None-Match", "the tag of the image that the client has"),
        _header("Prefer", "`wait=SECONDS` (RFC 7240): answer when there is another image"),
    ]
    image["responses"]["200"] = {
        "description": "The image",
        "headers": _TAG,
        "content": {"application/octet-stream": arrow_answers.BINARY},
    }
    image["responses"]["304"] = {"description": "The client has it", "headers": _TAG}
    metrics = paths["/metrics"]["get"]["responses"]
    metrics["200"]["content"] = {"text/plain": {"schema": {"type": "string"}}}


def _header(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string"}
    return {"name": name, "in": "header", "description": description, "schema": schema}


def _error(status: int) -> dict[str, Any]:
    """Return the response for a status, whose types of errors are those of `TYPES`."""
    detail = {
        "type": {"type": "string", "enum": [type for type, own in TYPES.items() if own == status]},
        "message": {"type": "string"},
        "field": {"type": ["string", "null"]},
        "value": {},
    }
    found: dict[str, Any] = {
        "description": HTTPStatus(status).phrase,
        "content": {"application/json": {"schema": _of({"error": _of(detail)})}},
    }
    if status in _HEADERS:
        found["headers"] = {
            name: {"description": what, "schema": {"type": "string"}}
            for name, what in _HEADERS[status].items()
        }
    return found


def _of(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON schema of an object with these members, and no others."""
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def _whole(value: Any) -> Any:
    """Return a document with whole numbers as such: the framework writes 4095 as 4095.0."""
    if isinstance(value, dict):
        return {key: _whole(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_whole(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def main() -> None:
    """Print the document."""
    from birthmark.serving.app.application import create_app

    json.dump(create_app(Settings()).openapi(), sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
