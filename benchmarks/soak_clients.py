"""Those who ask a service that is soaked: each kind at a rate of its own, as long as it runs."""

from __future__ import annotations

import asyncio
import time
from array import array
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

TIMEOUT = 60.0
"""Timeout of an answer, seconds; long polls have a wait besides."""


@dataclass
class Answer:
    """A response: its status, its fields (names in small letters) and its body."""

    status: int
    fields: dict[str, str]
    body: bytes


class Connection:
    """A connection that stays open, to a TCP port of this host or to a Unix socket."""

    def __init__(self, place: str, token: str | None = None) -> None:
        self.place = place
        self._token = "" if token is None else f"authorization: Bearer {token}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def streams(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Return both directions, opened if need be."""
        if self._streams is None:
            if self.place.startswith("unix:"):
                path = self.place.removeprefix("unix:")
                self._streams = await asyncio.open_unix_connection(path)
            else:
                self._streams = await asyncio.open_connection("127.0.0.1", int(self.place))
        return self._streams

    def close(self) -> None:
        """Close it; the next question opens another."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def ask(
        self, method: str, path: str, body: bytes = b"", fields: Mapping[str, str] | None = None
    ) -> Answer:
        """Send a request, and return its answer; raise OSError or TimeoutError where none comes."""
        own = "".join(f"{name}: {value}\r\n" for name, value in (fields or {}).items())
        length = f"content-length: {len(body)}\r\n" if body or method in ("POST", "PUT") else ""
        head = f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{self._token}{own}{length}\r\n"
        try:
            return await asyncio.wait_for(self._exchange(head.encode() + body), TIMEOUT)
        except (asyncio.IncompleteReadError, OSError, TimeoutError) as error:
            self.close()
            raise OSError(f"{method} {path}: {error or type(error).__name__}") from error

    async def _exchange(self, request: bytes) -> Answer:
        reader, writer = await self.streams()
        writer.write(request)
        line, *rest = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (each.split(": ", 1) for each in rest if each)
        fields = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        if fields.get("connection") == "close":
            self.close()
        return Answer(int(line.split()[1]), fields, body)


@dataclass
class Answers:
    """Results of the requests of each kind: latencies, and faults.

    Those `turned_away` were refused because others were enough (``overloaded``). `files` are those
    whose predictions, and `hints` those whose hints, were answered.
    """

    seconds: dict[str, array[float]] = field(default_factory=dict)
    failures: Counter[str] = field(default_factory=Counter)
    turned_away: int = 0
    files: int = 0
    hints: int = 0

    def note(self, kind: str, seconds: float) -> None:
        """Take note of an answer as it should be."""
        self.seconds.setdefault(kind, array("d")).append(seconds)

    def failed(self, kind: str, why: str) -> None:
        """Take note of another."""
        self.failures[f"{kind}: {why}"] += 1


class WrongAnswerError(Exception):
    """An answer that is not as it should be."""


class TurnedAwayError(WrongAnswerError):
    """An answer that says that others are enough."""


def expect(answer: Answer, *statuses: int) -> Answer:
    """Return an answer of one of these statuses; raise `WrongAnswerError` for another."""
    if answer.status == 503 and b'"overloaded"' in answer.body:
        raise TurnedAwayError
    if answer.status not in statuses:
        raise WrongAnswerError(f"{answer.status} {answer.body[:200]!r}")
    return answer


async def paced(
    result: Answers,
    kind: str,
    rate: float,
    ask: Callable[[], Awaitable[object]],
    stop: asyncio.Event,
) -> None:
    """Ask so often a second until `stop`, and take note; where that is too much, as often as goes.

    What is late is not made up for: a service that stalls is not flooded afterwards.
    """
    due = time.monotonic()
    while not stop.is_set():
        due = max(due + 1 / rate, time.monotonic() - 1)
        begun = time.perf_counter()
        try:
            await ask()
        except TurnedAwayError:
            result.turned_away += 1
        except (OSError, WrongAnswerError) as error:
            result.failed(kind, str(error))
        else:
            result.note(kind, time.perf_counter() - begun)
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), max(0.0, due - time.monotonic()))
