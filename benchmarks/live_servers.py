"""A follower and services as a user starts them, and one client's connection to a service."""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import httpx
import numpy as np

from birthmark.data.common.arrays import Bools
from birthmark.serving.access import tokens
from birthmark_native import SharedHistory

BIRTHMARK = [sys.executable, "-m", "birthmark"]
FOR_EVER = 1e12
"""Lag of every follower of traffic stamped in the past, seconds."""
STARTING = 120.0
"""Timeout of starting a process, seconds."""
SETTLED = 0.5
"""Seconds without progress after which a follower has processed all its input."""


class Follower:
    """``birthmark follow -``, which goes on from the histories of a registry's published version.

    What is written to ``pipe`` it follows; ``history`` is what it shares with services.
    """

    def __init__(self, process: subprocess.Popen[bytes], history: Path) -> None:
        assert process.stdin is not None
        self._process = process
        self.pipe: IO[bytes] = process.stdin
        self.history = SharedHistory(history, FOR_EVER, FOR_EVER, 1.0)

    def clock(self) -> int:
        """Return until when it knows the trace, microseconds since the epoch."""
        return int(self.history.status().get("clock") or 0)

    def wait_until(self, time_of: int) -> None:
        """Return once it knows the trace until a time, or all that it can.

        What was written last may be a part of a message, which has the time of its beginning.
        """
        before, since = 0, time.monotonic()
        while (clock := self.clock()) < time_of:
            if self._process.poll() is not None:
                raise SystemExit("the follower has ended: see its output above")
            if clock > before:
                before, since = clock, time.monotonic()
            if time.monotonic() - since > SETTLED:
                return
            time.sleep(0.001)

    def end(self) -> dict[str, Any]:
        """End it, and return its final status (``birthmark follow --json``)."""
        result, _ = self._process.communicate()
        if self._process.returncode:
            raise SystemExit(f"the follower ended with {self._process.returncode}")
        found: dict[str, Any] = json.loads(result)
        return found


@contextmanager
def following(registry: Path, out: Path, history: Path, control: bool) -> Iterator[Follower]:
    """Start a follower that writes datasets to ``out``; kill it if it was not let end.

    ``control``: whether outcomes move thresholds.
    """
    command = [*BIRTHMARK, "follow", "-", str(out), "--json"]
    command.append("--control" if control else "--no-control")
    command += ["--registry", str(registry), "--history", str(history)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes) as process:
        try:
            end = time.monotonic() + STARTING
            while not history.exists():
                if process.poll() is not None or time.monotonic() > end:
                    raise SystemExit("the follower does not start: see its output above")
                time.sleep(0.01)
            yield Follower(process, history)
        finally:
            process.kill()


class Asker:
    """Asks a service, over a connection that stays open, and stores the answers.

    ``answers`` tells, for each question and each of ``predicates``, whether the answer was yes;
    ``scopes`` counts the history scopes of answers, ``why_not`` why the live history gave
    nothing, and ``seconds`` has how long each request took.
    """

    def __init__(self, url: str, token: str, predicates: Sequence[str]) -> None:
        host = url.split("://")[1]
        self._connection = http.client.HTTPConnection(host, timeout=STARTING)
        self._headers = {
            "authorization": f"Bearer {token}",
            "content-type": "application/json",
        }
        self._predicates = predicates
        self._sent = 0.0
        self.begin(0)

    def begin(self, questions: int) -> None:
        """Reset the answers before ``questions`` other questions."""
        self.answers: Bools = np.zeros((questions, len(self._predicates)), dtype=bool)
        self.scopes: Counter[str] = Counter()
        self.why_not: Counter[str] = Counter()
        self.seconds: list[float] = []

    def send(self, bodies: Sequence[bytes]) -> None:
        """Ask about one create, or about a list of them."""
        body = bodies[0] if len(bodies) == 1 else b"[" + b",".join(bodies) + b"]"
        self._sent = time.perf_counter()
        self._connection.request("POST", "/v1/predictions", body, self._headers)

    def receive(self, first: int) -> None:
        """Take the answer to what was sent last: to question ``first``, and to those behind it."""
        response = self._connection.getresponse()
        content = response.read()
        self.seconds.append(time.perf_counter() - self._sent)
        if response.status != 200:
            raise SystemExit(f"the service refused a question: {content.decode()}")
        answer = json.loads(content)
        found = answer["predictions"] if "predictions" in answer else [answer["prediction"]]
        for number, prediction in enumerate(found, first):
            yes = prediction["predicates"]
            self.answers[number] = [yes[key] == "yes" for key in self._predicates]
            self.scopes[prediction["told"]] += 1
        if why := answer.get("live", {}).get("why"):
            self.why_not[why] += len(found)


@contextmanager
def serving(options: Sequence[str], log: Path) -> Iterator[str]:
    """Start ``birthmark serve`` at a free port, which logs into a file; yield its URL."""
    command = [*BIRTHMARK, "serve", "--port", "0", *options]
    with (
        log.open("w") as output,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=output, text=True) as process,
    ):
        try:
            assert process.stdout is not None
            words = process.stdout.readline().split()
            if not words or not _is_ready(words[-1], process):
                raise SystemExit(f"the service does not start:\n{log.read_text()}")
            yield words[-1]
        finally:
            process.terminate()


def _is_ready(url: str, process: subprocess.Popen[str]) -> bool:
    """Wait until a service has its model; tell whether it ever has."""
    end = time.monotonic() + STARTING
    while process.poll() is None and time.monotonic() < end:
        if httpx.get(f"{url}/readyz").status_code == 200:
            return True
        time.sleep(0.1)
    return False


def token(tokens_file: Path) -> str:
    """Return a new token that lets its owner ask for predictions."""
    return tokens.add(tokens_file, "benchmark", ["predict"])
