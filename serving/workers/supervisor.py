"""The process that keeps as many workers as wanted, and what each of them runs."""

from __future__ import annotations

import logging
import socket
from functools import partial
from typing import Any

import uvicorn
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess, multiprocess

log = logging.getLogger(__name__)

HEALTH_SECONDS = 30
"""How long a worker that has begun to answer may be silent before it is replaced."""

BEGIN_SECONDS = 300
"""How long its successor may take to begin, where one is replaced by SIGHUP."""

_GLANCE_SECONDS = 0.1  # between two looks whether a successor is ready: too short to be noticed


class Server(uvicorn.Server):
    """uvicorn's server, with a `Lobby` that takes its connections."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer at the sockets."""
        await super().startup(sockets=[])
        # Imported here: who keeps workers answers nobody.
        from birthmark.serving.http.connections import Connection
        from birthmark.serving.http.lobby import Lobby

        state = self.lifespan.state
        make = partial(Connection, self.config, self.server_state, state)
        self.servers = [
            Lobby(listener, make, state["limits"], state["tls"])  # type: ignore[misc]
            for listener in sockets or []
        ]


class Process(multiprocess.Process):
    """uvicorn's process of a worker, which runs a `Server`."""

    @property
    def server(self) -> Server:
        """What it runs."""
        if not isinstance(self._server, Server):
            self._server = Server(config=self.config)
        return self._server


class Workers(Multiprocess):
    """uvicorn's supervisor, in which a worker is a `Process` that may take its time to begin.

    Where much else runs, imports take longer than uvicorn lets a worker be silent: it would be
    replaced for ever.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._begun: set[int | None] = set()

    def _another(self) -> Process:
        worker = Process(self.config, self.sockets)
        worker.start()
        return worker

    def init_processes(self) -> None:
        """Begin all."""
        self.processes.extend(self._another() for _ in range(self.processes_num))

    def handle_ttin(self) -> None:
        """Begin one more, as SIGTTIN asks for."""
        self.processes_num += 1
        self.processes.append(self._another())

    def restart_all(self) -> None:
        """Replace each, one after the other, by one that has begun to answer."""
        for place, worker in enumerate(self.processes):
            successor = self._another()
            if not successor.wait_until_ready(BEGIN_SECONDS, self.should_exit):
                successor.kill()
                successor.join()
                if not self.should_exit.is_set():
                    log.error("worker %s did not begin; %s goes on", successor.pid, worker.pid)
                return
            worker.terminate()
            worker.join()
            self.processes[place] = successor

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
            self.processes[place] = self._another()

    def _is_alive(self, worker: multiprocess.Process) -> bool:
        if not worker.process.is_alive():
            return False
        if worker.pid in self._begun:
            return worker.ping(HEALTH_SECONDS)
        if worker.is_ready(_GLANCE_SECONDS):
            self._begun.add(worker.pid)
        return True
