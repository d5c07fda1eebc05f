"""The errors that requests get; ``serving.messages.error_responses`` says in which form."""

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
"""The status that each type of error has."""


class ApiError(Exception):
    """A request that gets an error: its `type` (see `TYPES`) and a message for people.

    `field` is what is at fault, where one member, column or parameter is; `value` is what it was.
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
    """Raise `ApiError` where the registry cannot be read: an object store may not answer."""
    try:
        yield
    except OSError as error:
        raise ApiError("no_registry", f"the registry cannot be read: {error}") from error
