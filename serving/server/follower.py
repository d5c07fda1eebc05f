"""Supervision of the follower that `birthmark serve --follow` runs."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from birthmark.serving.settings import Settings

log = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Pause before a failed follower is restarted, seconds; it doubles each time."""

STEADY_SECONDS = 300.0
"""Running time, seconds, after which the pause starts over."""

STOP_SECONDS = 60.0
"""How long a follower may take to write its data and stop, seconds."""


@contextmanager
def followed(settings: Settings, config: Path | None = None) -> Iterator[None]:
    """Keep a follower running, with a site's configuration file, if the settings name a source."""
    if settings.follow is None:
        yield
        return
    supervisor = _ProcessSupervisor(command(settings, config))
    supervisor.start()
    try:
        yield
    finally:
        supervisor.stop()


def command(settings: Settings, config: Path | None = None) -> list[str]:
    """Return the command line of the follower, which ends when this process does."""
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
        *(() if config is None else ("--config", str(config))),
    ]


class _ProcessSupervisor(threading.Thread):
    """Runs a process, and restarts it whenever it fails."""

    def __init__(self, command: list[str]) -> None:
        super().__init__(name="follower", daemon=True)
        self._command = command
        self._stopped = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()

    def run(self) -> None:
        """Supervise the process until `stop`, or until it exits with 0."""
        pause = FIRST_PAUSE
        while not self._stopped.is_set():
            began = time.monotonic()
            code = self._start_process().wait()
            if self._stopped.is_set():
                return
            if code == 0:
                log.warning("the follower reached the end of its source")
                return
            if time.monotonic() - began > STEADY_SECONDS:
                pause = FIRST_PAUSE
            log.error("the follower failed (exit code %s); it restarts in %g s", code, pause)
            self._stopped.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def stop(self) -> None:
        """Let the process write its data and end."""
        with self._lock:
            self._stopped.set()
            if self._process is None:
                return
            self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            log.error("the follower did not end in %g s", STOP_SECONDS)
            self._process.kill()
        self.join()

    def _start_process(self) -> subprocess.Popen[bytes]:
        with self._lock:
            quiet = subprocess.DEVNULL
            self._process = subprocess.Popen(self._command, stdin=quiet, stdout=quiet)
            return self._process
