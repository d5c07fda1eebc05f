"""The service's log: lines of text or JSON, without file names unless they are allowed.

Messages of errors may quote requests. So the log has only the type of an error that is raised
during a request or is `Quoting` one.
"""

from __future__ import annotations

import json
import logging
import re
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TextIO

from birthmark.data.common.visible import visible, visible_lines

if TYPE_CHECKING:
    from starlette.types import Scope

    from birthmark.serving.settings import Settings

REQUEST_ID = b"x-request-id"
"""The header field with a request's id."""

access = logging.getLogger("birthmark.access")
request: ContextVar[str | None] = ContextVar("request", default=None)
"""The id of the current request."""

_names = False


class Quoting:
    """An error to be logged that may quote requests."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __str__(self) -> str:
        """Return its message if file names are allowed, else its type."""
        return str(self.error) if _names else type(self.error).__name__


def set_up(settings: Settings) -> None:
    """Log to standard error, as the `settings` say, unless logging is configured already."""
    global _names
    _names = settings.log_names
    handler = _Handler()
    handler.setFormatter(Json() if settings.log_format == "json" else Text())
    logging.basicConfig(level=logging.INFO, handlers=[handler])


def id_of(scope: Scope) -> str:
    """Return the id of a request, which the front has set."""
    for name, value in scope["headers"]:
        if name == REQUEST_ID:
            return str(value.decode("latin-1"))
    return "-"


Answered = tuple[str, str, str, str, int, float, int]
"""An answered request: id, method, route, path, status, seconds, and bytes of the answer's body."""


def note(answered: Sequence[Answered]) -> None:
    """Log answered requests: a line for each."""
    if not answered or not access.isEnabledFor(logging.INFO):
        return
    (handler, *others) = logging.getLogger().handlers or [logging.NullHandler()]
    # Python's records take ten times as long, which with this handler nobody sees.
    if not others and isinstance(handler, _Handler) and isinstance(handler.formatter, _Formatter):
        record = access.makeRecord(access.name, logging.INFO, "", 0, "answered", (), None)
        handler.write(record, handler.formatter.lines(record, answered))
        return
    for each in answered:
        request.set(each[0])
        access.info("answered", extra={"known": _fields(each)})
    request.set(None)


def _fields(answered: Answered) -> dict[str, Any]:
    _, method, route, path, status, seconds, size = answered
    fields = {
        "method": method,
        "route": route,
        "status": status,
        "seconds": round(seconds, 6),
        "bytes": size,
    }
    return {**fields, "path": path} if _names else fields


class _Handler(logging.StreamHandler[TextIO]):
    """Writes to standard error."""

    def write(self, record: logging.LogRecord, lines: Iterable[str]) -> None:
        """Write the lines of a `record`; an error is handled as one of any record."""
        try:
            with self.lock or nullcontext():
                self.stream.write("".join(lines))
                self.flush()
        except Exception:
            self.handleError(record)


class _Formatter(logging.Formatter):
    """Formats an error raised in a request without its message, which may quote the request."""

    def lines(self, record: logging.LogRecord, answered: Sequence[Answered]) -> Iterator[str]:
        """Yield a line for each answered request, with the rest of a `record`."""
        raise NotImplementedError

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text; ignore error text cached by other formatters."""
        record.exc_text = None
        try:
            return super().format(record)
        finally:
            record.exc_text = None

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """Return the traceback of an error, and its type."""
        _, error, trace = ei
        if _names or request.get() is None or error is None:
            return super().formatException(ei)
        return "".join(traceback.format_tb(trace)) + type(error).__name__


class Text(_Formatter):
    """A line of text for each record, followed by the lines of its traceback."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(process)d %(levelname)s %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Return the line."""
        fields = dict(getattr(record, "known", {}))
        if (request_id := request.get()) is not None:
            fields["request"] = request_id
        rest = "".join(f" {key}={_plain(value)}" for key, value in fields.items())
        return visible(super().formatMessage(record)) + rest

    def lines(self, record: logging.LogRecord, answered: Sequence[Answered]) -> Iterator[str]:
        """Yield the lines."""
        begin = self.format(record)
        for each in answered:
            request_id, method, route, path, status, seconds, size = each
            named = f" path={_plain(path)}" if _names else ""
            yield (
                f"{begin} method={method} route={route} status={status}"
                f" seconds={round(seconds, 6)} bytes={size}{named} request={request_id}\n"
            )

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """Return the lines, with terminal control characters escaped."""
        return visible_lines(super().formatException(ei))


def _plain(value: object) -> str:
    """Return `value` as one word, with other characters escaped."""
    return re.sub(r"[^!-~]", lambda match: f"\\x{ord(match[0]):02x}", str(value))


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

    def lines(self, record: logging.LogRecord, answered: Sequence[Answered]) -> Iterator[str]:
        """Yield the lines."""
        begin = self.format(record).removesuffix(', "request": null}')
        for each in answered:
            request_id, method, route, path, status, seconds, size = each
            named = f', "path": {json.dumps(path)}' if _names else ""
            yield (
                f'{begin}, "request": "{request_id}", "method": "{method}", "route": "{route}",'
                f' "status": {status}, "seconds": {round(seconds, 6)}, "bytes": {size}{named}}}\n'
            )
