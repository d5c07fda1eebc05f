"""Send a live history to a service on another host (``POST /v1/history``), in the background.

A session keeps one connection. It begins with an empty update.
Once that is accepted, the whole history follows in parts, then changes as they occur. After any
failure a new session begins, so a copy never lacks anything, and nothing piles up here while no
service answers.
"""

from __future__ import annotations

import logging
import secrets
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

from birthmark.data.common.host import host_name
from birthmark.data.common.regular import SETTINGS_BYTES, read_regular
from birthmark.data.common.visible import visible
from birthmark.data.follow import beside
from birthmark.data.follow.status import Sent
from birthmark.data.follow.updates import MEDIA_TYPE, PATH, Report, Update
from birthmark.data.settings import Following
from birthmark_native import HistoryChanges

EVERY = 0.1
"""Seconds between updates, at least, unless one update cannot hold all that is pending."""

MOST_ROWS = 20_000
"""The most rows of an update: 2 MB."""

MOST_PENDING = 1_000_000
"""The most rows pending for a slow service; beyond, they are dropped and everything is resent."""

PATIENCE = 10.0
"""The timeout of each step of a request, in seconds."""

SOONEST, LATEST = 0.1, 5.0
"""The first and the longest delay before a new session, in seconds; it doubles each time."""

IDLE = 60.0
"""Seconds after which an idle connection is closed: shorter than services' own timeouts."""

OVERLOADED = 1.0
"""Seconds until an update is resent that an overloaded service refused."""

ENDING = 3.0
"""The timeout of the last update, in seconds."""

_PATH = 200  # characters of the history's path in a sender's name

log = logging.getLogger(__name__)

Everything = Callable[[], HistoryChanges]


class RefusedError(Exception):
    """The service answered with an error."""


class Sender:
    """Sends a live history to a service; call `take` at each update of it.

    Raises ValueError for an invalid URL, token or certificates; OSError if the token cannot be
    read.
    """

    def __init__(self, settings: Following) -> None:
        assert settings.send is not None
        assert settings.history is not None
        self.sent = Sent(settings.send)
        self._url, self._token = settings.send, settings.send_token
        self._name = f"{host_name()}:{visible(str(settings.history.absolute()))[-_PATH:]}"
        self._trusted = _trusted(settings.send, settings.send_certificates)
        self._headers()
        self._thresholds = beside.thresholds(settings.history)
        self._changed = threading.Condition()
        self._wanted = False
        self._pending: HistoryChanges | None = None
        self._overrun = False
        self._report: tuple[Report, float] | None = None
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sender", daemon=True)
        self._thread.start()

    def take(self, changes: HistoryChanges, report: Report, everything: Everything) -> None:
        """Take the changes, or everything if that is pending, and the follower's report."""
        with self._changed:
            if self._wanted:
                self._pending, self._wanted = everything(), False
            elif self._pending is not None:
                self._pending.merge(changes)
                self._overrun = len(self._pending) > MOST_PENDING
                if self._overrun:
                    self._pending = HistoryChanges()
            self._report = report, time.monotonic()
            self._changed.notify()

    def close(self) -> None:
        """Send the last changes, if that is quick, and end."""
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
        """Yield the updates of a session when they are due."""
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
            now = self._thresholds_text() if whole else before
            thresholds = None if now == before else now
            yield Update(self._name, own, session, number, whole, report, changes, thresholds)
            before = now
            if whole:
                self._follows()
                self._ending.wait(EVERY)

    def _next(self) -> tuple[Report, HistoryChanges, bool] | None:
        """Return the next changes, and whether they are the last of the whole; None at the end."""
        with self._changed:
            while self._report is None or self._pending is None:
                if self._ending.is_set():
                    return None
                self._changed.wait()
            if self._overrun:
                raise RefusedError(f"more than {MOST_PENDING:,} changes waited to be sent")
            report, at = self._report
            changes = self._pending.take(MOST_ROWS)
            whole = len(self._pending) == 0
            if whole:
                self._report = None
        waited = time.monotonic() - at
        return replace(report, lag=report.lag + waited), changes, whole

    def _thresholds_text(self) -> str | None:
        """Return the thresholds that accompany the history, if any."""
        try:
            return self._thresholds.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None

    def _follows(self) -> None:
        if not self.sent.following:
            self.sent.following, self.sent.why = True, None
            self.sent.copies += 1
            log.info("%s has the whole history", self._url)

    def _post(self, http: httpx.Client, update: Update) -> None:
        """Send an update; raise `RefusedError`, or httpx's error, if it is not accepted."""
        body = update.to_stream().to_pybytes()
        while True:
            response = http.post(PATH, content=body)
            if response.is_success:
                break
            error = _error(response)
            if error.get("type") != "overloaded" or self._ending.is_set():
                raise RefusedError(f"{response.status_code}: {error.get('message')}")
            self._ending.wait(OVERLOADED)  # it was refused, so nothing is missing yet
        self.sent.updates += 1
        self.sent.bytes += len(body)

    def _failed(self, error: Exception) -> None:
        """Record an error, and drop pending changes: the next session sends everything."""
        with self._changed:
            self._wanted, self._pending, self._overrun = False, None, False
        why = str(error) or type(error).__name__
        if why != self.sent.why:
            log.warning("%s does not receive the live history: %s", self._url, why)
        self.sent.following, self.sent.why = False, why
        self.sent.failures += 1

    def _connection(self) -> httpx.Client:
        """Return a client that makes and keeps one connection."""
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
        headers = {"content-type": MEDIA_TYPE}
        if self._token is not None:
            text = read_regular(self._token, SETTINGS_BYTES).decode().strip()
            if not (text.isascii() and text.isprintable() and text):
                raise ValueError(
                    f"{self._token}: expected a token, as birthmark tokens add prints it"
                )
            headers["authorization"] = f"Bearer {text}"
        return headers


def _trusted(url: str, certificates: Path | None) -> ssl.SSLContext | bool:
    """Return how to verify the service's certificate."""
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
        raise ValueError(f"{certificates}: expected certificates in PEM: {error}") from error


def _error(response: httpx.Response) -> dict[str, Any]:
    """Return the error in a response, if it is one of a service."""
    with suppress(ValueError, KeyError, TypeError):
        return dict(response.json()["error"])
    return {"message": response.reason_phrase}
