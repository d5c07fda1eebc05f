"""The follower that `birthmark serve --follow` keeps at work beside the workers."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from birthmark.serving.settings import Settings

log = logging.getLogger(__name__)

SOONEST, LATEST = 1.0, 60.0
"""How long until a follower that failed is begun again, seconds: twice as long each time."""

STEADY = 300.0
"""One that was at work for so long had no trouble of its own: the next is begun soon again."""

ENDING = 60.0
"""How long it may take to write what it has, seconds."""


@contextmanager
def followed(settings: Settings) -> Iterator[None]:
    """Keep a follower at work, if the settings name what it is to follow."""
    if settings.follow is None:
        yield
        return
    keeper = _Keeper(command(settings))
    keeper.start()
    try:
        yield
    finally:
        keeper.stop()


def command(settings: Settings) -> list[str]:
    """Return what the follower is begun by; it ends when this process does."""
    return [
        *(
            sys.executable,
            "-m",
            "birthmark",
            "follow",
            str(settings.follow),
            str(settings.followed),
        ),
        *("--history", str(settings.history), "--registry", str(settings.registry)),
        *("--end-with", str(os.getpid())),
    ]


class _Keeper(threading.Thread):
    """Begins a process, and another whenever it ends by an error."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(name="follower", daemon=True)
        self._command = command
        self._stopped = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def run(self) -> None:
        """Do so until it is stopped, or has come to its end."""
        pause = SOONEST
        while not self._stopped.is_set():
            began = time.monotonic()
            code = self._begin().wait()
            if self._stopped.is_set():
                return
            if code == 0:
                log.warning("the follower has come to the end of what it follows")
                return
            if time.monotonic() - began > STEADY:
                pause = SOONEST
            log.error("the follower has ended (%s); another begins in %g s", code, pause)
            self._stopped.wait(pause)
            pause = min(2 * pause, LATEST)

    def stop(self) -> None:
        """Let it write what it has, and end."""
        with self._lock:
            self._stopped.set()
            if self._process is None:
                return
            self._process.terminate()
        try:
            self._process.wait(ENDING)
        except subprocess.TimeoutExpired:
            log.error("the follower did not end in %g s", ENDING)
            self._process.kill()
        self.join()

    def _begin(self) -> subprocess.Popen[bytes]:
        with self._lock:
            quiet = subprocess.DEVNULL
            self._process = subprocess.Popen(self._command, stdin=quiet, stdout=quiet)
            return self._process
