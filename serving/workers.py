"""The process that keeps as many workers as wanted."""

from __future__ import annotations

import logging
from typing import Any

from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess
from uvicorn.supervisors.multiprocess import Process

log = logging.getLogger(__name__)

HEALTH_SECONDS = 30
"""How long a worker that has begun to answer may be silent before it is replaced."""

BEGIN_SECONDS = 300
"""How long its successor may take to begin, where one is replaced by SIGHUP."""

_GLANCE_SECONDS = 0.1


class Workers(Multiprocess):
    """uvicorn's supervisor, but that a worker may take its time to begin.

    Where much else runs, imports take longer than uvicorn lets a worker be silent: it would be
    replaced for ever.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._begun: set[int | None] = set()

    def keep_subprocess_alive(self) -> None:
        """Replace each worker that has died or hangs; stop all if one could not start."""
        for place, worker in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if self._is_alive(worker):
                continue
            worker.kill()
            worker.join()
            self._begun.discard(worker.pid)
            if worker.exitcode == STARTUP_FAILURE:
                log.error("worker %s could not start; all stop", worker.pid)
                self.should_exit.set()
                return
            log.error("worker %s has died (%s); another begins", worker.pid, worker.exitcode)
            self.processes[place] = Process(self.config, self.sockets)
            self.processes[place].start()

    def _is_alive(self, worker: Process) -> bool:
        if not worker.process.is_alive():
            return False
        if worker.pid in self._begun:
            return worker.ping(HEALTH_SECONDS)
        if worker.is_ready(_GLANCE_SECONDS):
            self._begun.add(worker.pid)
        return True
