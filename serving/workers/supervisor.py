"""The supervisor of the worker processes, and the server that each of them runs."""

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
"""How long a ready worker may be unresponsive before it is replaced."""

BEGIN_SECONDS = 300
"""How long a successor may take to get ready when SIGHUP replaces a worker."""

_READY_POLL_SECONDS = 0.1  # too short to be noticed


class Server(uvicorn.Server):
    """uvicorn's server, with an `Acceptor` for its connections."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to answer at the sockets."""
        await super().startup(sockets=[])
        # Imported here because the supervisor does not need them.
        from birthmark.serving.http.acceptor import Acceptor
        from birthmark.serving.http.connections import Connection

        state = self.lifespan.state
        make = partial(Connection, self.config, self.server_state, state)
        self.servers = [
            Acceptor(listener, make, state["limits"], state["tls"])  # type: ignore[misc]
            for listener in sockets or []
        ]


class Process(multiprocess.Process):
    """uvicorn's worker process, which runs a `Server`."""

    @property
    def server(self) -> Server:
        """The server of this process."""
        if not isinstance(self._server, Server):
            self._server = Server(config=self.config)
        return self._server


class Workers(Multiprocess):
    """uvicorn's supervisor, which pings a `Process` only once it is ready.

    On a busy machine the imports alone exceed uvicorn's timeout, so that it would replace each
    worker for ever.
    """

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._ready_pids: set[int | None] = set()

    def _start_worker(self) -> Process:
        worker = Process(self.config, self.sockets)
        worker.start()
        return worker

    def init_processes(self) -> None:
        """Start all workers."""
        self.processes.extend(self._start_worker() for _ in range(self.processes_num))

    def handle_ttin(self) -> None:
        """Start one more worker, on SIGTTIN."""
        self.processes_num += 1
        self.processes.append(self._start_worker())

    def restart_all(self) -> None:
        """Replace the workers one by one, each once its successor is ready."""
        for place, worker in enumerate(self.processes):
            successor = self._start_worker()
            if not successor.wait_until_ready(BEGIN_SECONDS, self.should_exit):
                successor.kill()
                successor.join()
                if not self.should_exit.is_set():
                    log.error("worker %s did not get ready; %s stays", successor.pid, worker.pid)
                return
            worker.terminate()
            worker.join()
            self.processes[place] = successor

    def keep_subprocess_alive(self) -> None:
        """Replace each worker that died or hangs; stop all if one could not start."""
        for place, worker in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if self._is_alive(worker):
                continue
            worker.kill()
            worker.join()
            self._ready_pids.discard(worker.pid)
            if worker.exitcode == STARTUP_FAILURE:
                log.error("worker %s could not start; all stop", worker.pid)
                self.should_exit.set()
                return
            log.error("worker %s died (%s); it is replaced", worker.pid, worker.exitcode)
            self.processes[place] = self._start_worker()

    def _is_alive(self, worker: multiprocess.Process) -> bool:
        if not worker.process.is_alive():
            return False
        if worker.pid in self._ready_pids:
            return worker.ping(HEALTH_SECONDS)
        if worker.is_ready(_READY_POLL_SECONDS):
            self._ready_pids.add(worker.pid)
        return True
