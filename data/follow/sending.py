"""Sends a live history to a service on another host (``POST /v1/history``), behind the follower.

A session keeps one connection, and by it one worker of the service. It begins with an empty update;
when that was taken, all that the follower knows follows in parts, then what changed, as it changes.
After any failure another session begins, so that nothing is ever missing in a copy, and nothing
piles up here while no service answers.
"""

from __future__ import annotations

import logging
import secrets
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import Any

import httpx

from birthmark.data.follow import beside
from birthmark.data.follow.status import Sent
from birthmark.data.follow.updates import MEDIA_TYPE, PATH, Report, Update
from birthmark.data.settings import Following
from birthmark_native import HistoryChanges

EVERY = 0.1
"""At most so often is an update sent, in seconds, unless more waits than one holds."""

MOST_ROWS = 20_000
"""An update has at most so many: 2 MB."""

PATIENCE = 10.0
"""So long may each step of a request take, in seconds."""

SOONEST, LATEST = 0.1, 5.0
"""How long until another session is tried, in seconds: twice as long each time."""

IDLE = 60.0
"""How long a connection is kept on which nothing is sent, in seconds: less than services do."""

OVERLOADED = 1.0
"""How long until an update is sent again that a service had no room for, in seconds."""

ENDING = 3.0
"""How long the last update may take, in seconds."""

log = logging.getLogger(__name__)

Everything = Callable[[], HistoryChanges]


class RefusedError(Exception):
    """The service answered with an error."""


class Sender:
    """Tells a service what a live history knows; `take` is given that at each update of it.

    Raises ValueError for a URL, a token or certificates that are none; OSError if the token cannot
    be read.
    """

    def __init__(self, settings: Following) -> None:
        assert settings.send is not None
        assert settings.history is not None
        self.sent = Sent(settings.send)
        self._url, self._token = settings.send, settings.send_token
        self._name = f"{socket.gethostname()}:{settings.history.absolute()}"[-255:]
        self._trusted = _trusted(settings.send, settings.send_certificates)
        self._headers()
        self._thresholds = beside.thresholds(settings.history)
        self._changed = threading.Condition()
        self._wanted = False
        self._pending: HistoryChanges | None = None
        self._report: tuple[Report, float] | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)
        self._thread.start()

    def take(self, changes: HistoryChanges, report: Report, everything: Everything) -> None:
        """Take what changed, or everything if that is wanted, and how the follower is doing."""
        with self._changed:
            if self._wanted:
                self._pending, self._wanted = everything(), False
            elif self._pending is not None:
                self._pending.merge(changes)
            self._report = report, time.monotonic()
            self._changed.notify()

    def close(self) -> None:
        """Send what was taken last, if that is soon done, and end."""
        with self._changed:
            self._ending.set()
            self._changed.notify()
        self._thread.join(ENDING)

    def _run(self) -> None:
        pause = SOONEST
        while not self._ending.is_set():
            copies = self.sent.copies
            try:
                with self._connection() as http:
                    for update in self._updates():
                        self._post(http, update)
            except (httpx.HTTPError, RefusedError, OSError, ValueError) as error:
                self._failed(error)
            pause = SOONEST if self.sent.copies > copies else min(2 * pause, LATEST)
            self._ending.wait(pause)

    def _updates(self) -> Iterator[Update]:
        """Yield the updates of a session, as they are due."""
        nothing = Report(0, 0.0, 0.0, "starting")
        session, own = secrets.token_hex(16), version("birthmark")
        yield Update(self._name, own, session, 0, False, nothing, HistoryChanges())
        with self._changed:
            self._wanted = True
        before = None
        for number in count(1):
            due = self._next()
            if due is None:
                return
            report, changes, whole = due
            now = self._moved() if whole else before
            told = None if now == before else now
            yield Update(self._name, own, session, number, whole, report, changes, told)
            before = now
            if whole:
                self._follows()
                self._ending.wait(EVERY)

    def _next(self) -> tuple[Report, HistoryChanges, bool] | None:
        """Return what is to be sent next, and whether that is all; None at the end."""
        with self._changed:
            while self._report is None or self._pending is None:
                if self._ending.is_set():
                    return None
                self._changed.wait()
            report, at = self._report
            changes = self._pending.take(MOST_ROWS)
            whole = len(self._pending) == 0
            if whole:
                self._report = None
        waited = time.monotonic() - at
        return replace(report, lag=report.lag + waited), changes, whole

    def _moved(self) -> str | None:
        """Return the thresholds beside the history, if there are any."""
        try:
            return self._thresholds.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def _follows(self) -> None:
        if not self.sent.following:
            self.sent.following, self.sent.why = True, None
            self.sent.copies += 1
            log.info("%s has all that is known", self._url)

    def _post(self, http: httpx.Client, update: Update) -> None:
        """Send an update; raise `RefusedError`, or what httpx does, where it is not taken."""
        body = update.to_stream().to_pybytes()
        while True:
            response = http.post(PATH, content=body)
            if response.is_success:
                break
            error = _error(response)
            if error.get("type") != "overloaded" or self._ending.is_set():
                raise RefusedError(f"{response.status_code}: {error.get('message')}")
            self._ending.wait(OVERLOADED)  # it was not taken: nothing is missing yet
        self.sent.updates += 1
        self.sent.bytes += len(body)

    def _failed(self, error: Exception) -> None:
        """Take note of it, and let go of what would have been sent: all is wanted next time."""
        with self._changed:
            self._wanted, self._pending = False, None
        why = str(error) or type(error).__name__
        if why != self.sent.why:
            log.warning("%s is not told what is seen: %s", self._url, why)
        self.sent.following, self.sent.why = False, why
        self.sent.failures += 1

    def _connection(self) -> httpx.Client:
        """Return what makes one connection, and keeps it."""
        limits = httpx.Limits(max_connections=1, keepalive_expiry=IDLE)
        transport = httpx.HTTPTransport(verify=self._trusted, limits=limits, trust_env=False)
        return httpx.Client(
            base_url=self._url,
            headers=self._headers(),
            timeout=PATIENCE,
            transport=transport,
            trust_env=False,
        )

    def _headers(self) -> dict[str, str]:
        told = {"content-type": MEDIA_TYPE}
        if self._token is not None:
            text = self._token.read_text(encoding="utf-8").strip()
            if not (text.isascii() and text.isprintable() and text):
                raise ValueError(
                    f"{self._token}: expected a token, as birthmark tokens add prints it"
                )
            told["authorization"] = f"Bearer {text}"
        return told


def _trusted(url: str, certificates: Path | None) -> ssl.SSLContext | bool:
    """Return how a service proves who it is."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL as error:
        raise ValueError(
            f"{url}: expected http://HOST:PORT or https://HOST:PORT: {error}"
        ) from error
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise ValueError(f"{url}: expected http://HOST:PORT or https://HOST:PORT")
    if parsed.scheme == "http":
        return False
    try:
        return ssl.create_default_context(cafile=certificates)
    except OSError as error:
        raise ValueError(f"{certificates}: expected certificates, PEM: {error}") from error


def _error(response: httpx.Response) -> dict[str, Any]:
    """Return the error that was answered, if it is one of a service."""
    with suppress(ValueError, KeyError, TypeError):
        return dict(response.json()["error"])
    return {"message": response.reason_phrase}
