"""Workers for the parallel steps of a night: local processes, or a cluster.

A step is a number of independent joblib tasks. A task is a function of this project and paths: it
reads and writes files in a directory that all workers see under the same path, so that messages are
small. It writes each file atomically, and is idempotent: another worker can run it again if the
first one dies. Results are the same bytes with any engine and any number of workers.

Messages between our processes are pickled; of stored data, only users' estimators are.
"""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config

from birthmark.data.common.durable import error_context
from birthmark.data.common.orphans import end_with
from birthmark.predictor.fit.learning import Learner, LocalLearner
from birthmark.predictor.fit.tasks import TaskLearner
from birthmark.training.config import Engine
from birthmark_native import __version__

Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function, its arguments and its named arguments, from `joblib.delayed`."""

WAIT = 60
"""Timeout for the scheduler and for the first worker, in seconds."""

SCRATCH = ".work-"
"""Prefix of the directories in which tasks exchange files."""

IDLE = 24 * 3600
"""Time after which an idle process ends, in seconds."""


class EngineError(OSError):
    """The engine cannot be used; the message names it and the expectation."""


class Workers:
    """The workers that run tasks.

    `directory` is for files that tasks exchange; all workers see it (None: the system's temporary
    directory). With one process, tasks run in this process in turn, and each may use all cores.
    """

    def __init__(
        self, directory: Path | None = None, processes: int | None = 1, client: Any = None
    ) -> None:
        self.directory = directory
        self._processes = processes
        self._client = client

    @property
    def alone(self) -> bool:
        """Whether all tasks run in this process."""
        return self._processes == 1 and self._client is None

    def run(self, tasks: Iterable[Task]) -> list[Any]:
        """Run tasks in any order; return their results in the order of the tasks.

        Raises the error of the first task that fails.
        """
        waiting = list(tasks)
        if self.alone:
            return [function(*given, **named) for function, given, named in waiting]
        with self._backend():
            run = Parallel(n_jobs=self._processes or -1, batch_size=1, pre_dispatch="all")
            return list(run(delayed(_alone)(*task) for task in waiting))

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """Yield an empty directory that all workers see, and remove it afterwards."""
        place = Path(self.directory or tempfile.gettempdir())
        with (
            error_context(place),
            tempfile.TemporaryDirectory(prefix=SCRATCH, dir=self.directory) as path,
        ):
            yield Path(path)

    def _backend(self) -> Any:
        if self._client is None:
            # Set at their start, because a process may wait for its first task.
            return parallel_config(
                "loky",
                idle_worker_timeout=IDLE,
                initializer=end_with,
                initargs=(os.getpid(), signal.SIGKILL),
            )
        return parallel_config("dask", client=self._client, wait_for_workers_timeout=WAIT)


_CURRENT: ContextVar[Workers | None] = ContextVar("workers", default=None)


def current() -> Workers:
    """Return the workers of the open engine; in tasks, or without an engine, this process."""
    return _CURRENT.get() or Workers()


@contextmanager
def learner() -> Iterator[Learner]:
    """Yield the learner that trains models on the current workers."""
    workers = current()
    if workers.alone:
        yield LocalLearner()
        return
    with workers.scratch() as scratch:
        yield TaskLearner(scratch, workers.run)


def _alone(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Run a task on one core; the others are for other tasks."""
    with parallel_config("sequential"):
        return function(*given, **named)


@contextmanager
def opened(engine: Engine, directory: Path) -> Iterator[Workers]:
    """Yield the workers of an engine, which share `directory`, and make them `current`.

    Raises `EngineError` if a cluster cannot be used: it has no scheduler, or a worker has another
    version of this program, or does not see the directory.
    """
    with nullcontext() if engine.scheduler is None else _client(engine.scheduler) as client:
        if client is not None:
            _check(client, directory)
        workers = Workers(directory, engine.workers, client)
        before = _CURRENT.set(workers)
        try:
            yield workers
        finally:
            _CURRENT.reset(before)


@contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError as error:
        raise EngineError(
            "engine.kind = 'dask' needs the package distributed: pip install 'distributed>=2025.1'"
        ) from error
    try:
        client: Any = Client(scheduler, set_as_default=False, timeout=WAIT)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise EngineError(f"{scheduler}: expected a scheduler of Dask: {error}") from error
    with client:
        yield client


def _check(client: Any, directory: Path) -> None:
    """Raise `EngineError` unless every worker has this version and sees `directory`."""
    address = client.scheduler.address
    try:
        client.wait_for_workers(1, timeout=WAIT)
    except TimeoutError as error:
        raise EngineError(f"{address}: expected a worker within {WAIT} s, found none") from error
    with tempfile.NamedTemporaryFile(prefix=".seen-", dir=directory) as file:
        try:
            found = client.run(_sees, file.name)
        except ImportError as error:
            raise EngineError(f"{address}: expected birthmark on every worker: {error}") from error
    for worker, (version, seen) in found.items():
        if version != __version__:
            raise EngineError(f"{worker}: expected birthmark {__version__}, found {version}")
        if not seen:
            raise EngineError(
                f"{worker}: expected to see {directory}, which all workers must share"
            )


def _sees(path: str) -> tuple[str, bool]:
    return __version__, Path(path).exists()
