"""The service's log: lines of text or of JSON, which tell no file's name unless they may.

What requests say can stand in the messages of errors. These are logged by their type alone, where
they are raised while a request is answered or are `Quoting` it.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any

from starlette.types import Scope

from birthmark.data.common.visible import visible, visible_lines

if TYPE_CHECKING:
    from birthmark.serving.settings import Settings

REQUEST_ID = b"x-request-id"
"""The header field with a request's id."""

access = logging.getLogger("birthmark.access")
request: ContextVar[str | None] = ContextVar("request", default=None)
"""The id of the request that is answered."""

_ID = re.compile(rb"[A-Za-z0-9._:+/=-]{1,64}")
_names = False
_process = secrets.token_hex(6).encode()
_numbers = count(1)


class Quoting:
    """An error that may quote requests, to be logged."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __str__(self) -> str:
        """Return its message if names may be told, else what kind of error it is."""
        return str(self.error) if _names else type(self.error).__name__


def set_up(settings: Settings) -> None:
    """Log as `settings` say, to standard error, unless something else takes the log already."""
    global _names
    _names = settings.log_names
    handler = logging.StreamHandler()
    handler.setFormatter(Json() if settings.log_format == "json" else Text())
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def id_of(scope: Scope) -> bytes:
    """Return the id that a request came with, if it is one, else a new one."""
    for name, value in scope["headers"]:
        if name == REQUEST_ID and _ID.fullmatch(value):
            found: bytes = value
            return found
    return b"%s-%x" % (_process, next(_numbers))


def note(scope: Scope, route: str, status: int, seconds: float, size: int) -> None:
    """Log that a request was answered: with so many bytes of body, after so many seconds."""
    known: dict[str, Any] = {
        "method": scope["method"],
        "route": route,
        "status": status,
        "seconds": round(seconds, 6),
        "bytes": size,
    }
    if _names:
        known["path"] = scope["path"]
    access.info("answered", extra={"known": known})


class _Formatter(logging.Formatter):
    """Formats an error raised in a request without its message, which may quote the request."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text; what others made of its error does not count."""
        record.exc_text = None
        try:
            return super().format(record)
        finally:
            record.exc_text = None

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """Return the places that an error passed, and what it is."""
        _, error, trace = ei
        if _names or request.get() is None or error is None:
            return super().formatException(ei)
        return "".join(traceback.format_tb(trace)) + type(error).__name__


class Text(_Formatter):
    """A line of text for each record, and an error's places in lines after it."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(process)d %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Return the line."""
        told = dict(getattr(record, "known", {}))
        if (asked := request.get()) is not None:
            told["request"] = asked
        rest = "".join(f" {key}={_plain(value)}" for key, value in told.items())
        return visible(super().formatMessage(record)) + rest

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """Return its lines, with escapes for what a terminal obeys."""
        return visible_lines(super().formatException(ei))


def _plain(value: object) -> str:
    """Return `value` in one word: what else it holds is escaped."""
    return re.sub(r"[^!-~]", lambda each: f"\\x{ord(each[0]):02x}", str(value))


class Json(_Formatter):
    """A JSON object in a line for each record."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname.lower(),
            "process": record.process,
            "logger": record.name,
            "message": record.getMessage(),
            "request": request.get(),
            **getattr(record, "known", {}),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line)
