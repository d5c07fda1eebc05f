"""The errors that requests get; ``serving.messages.error_responses`` makes their responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

TYPES: dict[str, int] = {
    "invalid_arrow": 400,
    "invalid_http": 400,
    "invalid_json": 400,
    "disconnected": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "foreign_origin": 403,
    "not_found": 404,
    "no_version": 404,
    "not_receiving": 404,
    "method_not_allowed": 405,
    "too_slow": 408,
    "damaged_version": 409,
    "hook_refused": 409,
    "history_gap": 409,
    "other_follower": 409,
    "other_format": 409,
    "read_only": 409,
    "body_too_large": 413,
    "not_json": 415,
    "unknown_host": 421,
    "invalid_request": 422,
    "head_too_large": 431,
    "internal": 500,
    "history_locked": 503,
    "no_history": 503,
    "no_model": 503,
    "no_hints": 503,
    "no_registry": 503,
    "no_tokens": 503,
    "overloaded": 503,
}
"""The HTTP status of each type of error."""


class ApiError(Exception):
    """The error of a request: a `type` of `TYPES`, and a message for people.

    `field` is the faulty member, column or parameter, if there is a single one; `value` its value.
    """

    def __init__(
        self,
        type: str,
        message: str,
        headers: Mapping[str, str] | None = None,
        *,
        field: str | None = None,
        value: Any = None,
    ) -> None:
        super().__init__(message)
        self.type = type
        self.headers = headers
        self.field = field
        self.value = value


@contextmanager
def registry_read() -> Iterator[None]:
    """Turn an OSError, such as of an object store, into `ApiError`."""
    try:
        yield
    except OSError as error:
        raise ApiError("no_registry", f"the registry cannot be read: {error}") from error
