"""Who runs the parallel steps of a night: processes of this machine, or the workers of a cluster.

A step is a number of tasks, of joblib, that do not depend on each other. A task is a function of
this project and paths: what it reads and what it makes are files in a directory that all workers
see under the same path, and only what is as small as a path is sent. It makes its files whole or
not at all, and the same ones whoever runs it and however often: so a task whose worker died is run
again by another, and the results are the same bytes whichever engine and however many workers.

What is sent between our own processes is pickled; of what is stored only estimators of users are.
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

from birthmark.data.common.orphans import end_with
from birthmark.predictor.fit.learning import Learner, LocalLearner
from birthmark.predictor.fit.tasks import TaskLearner
from birthmark.training.config import Engine
from birthmark_native import __version__

Task = tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]
"""A function, its arguments and its named arguments: what `joblib.delayed` makes."""

WAIT = 60
"""How many seconds are waited for the scheduler and for the first worker."""

SCRATCH = ".work-"
"""What names of directories begin with that tasks hand each other things in."""

IDLE = 24 * 3600
"""How many seconds a process waits for its next task, if this one does not end before."""


class EngineError(OSError):
    """The engine cannot be used; the message names it, and says what was expected."""


class Workers:
    """Those who run tasks.

    `directory` is for what tasks hand to each other: all workers see it (None: the system's for
    temporary files). With one process there is no other: tasks run in this one, in turn, and each
    may use all cores.
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
        """Run tasks in any order; return what they return, in theirs.

        Raises what the first task raises that fails.
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
        with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=self.directory) as path:
            yield Path(path)

    def _backend(self) -> Any:
        if self._client is None:
            # At their start: one that waits for its first task would wait for so long.
            return parallel_config(
                "loky",
                idle_worker_timeout=IDLE,
                initializer=end_with,
                initargs=(os.getpid(), signal.SIGKILL),
            )
        return parallel_config("dask", client=self._client, wait_for_workers_timeout=WAIT)


_CURRENT: ContextVar[Workers | None] = ContextVar("workers", default=None)


def current() -> Workers:
    """Return the workers of the engine that is open; in tasks, and without one, this process."""
    return _CURRENT.get() or Workers()


@contextmanager
def learner() -> Iterator[Learner]:
    """Yield who trains models: the current workers."""
    workers = current()
    if workers.alone:
        yield LocalLearner()
        return
    with workers.scratch() as scratch:
        yield TaskLearner(scratch, workers.run)


def _alone(function: Callable[..., Any], given: tuple[Any, ...], named: dict[str, Any]) -> Any:
    """Run a task that has one core: the others are for the other tasks."""
    with parallel_config("sequential"):
        return function(*given, **named)


@contextmanager
def opened(engine: Engine, directory: Path) -> Iterator[Workers]:
    """Yield the workers of an engine, who share `directory`; they are the `current` ones.

    Raises `EngineError` where a cluster cannot be used: there is no scheduler, or a worker has
    another version of this program, or does not see the directory.
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
    """Raise `EngineError` unless every worker is as it must be."""
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
            raise EngineError(f"{worker}: expected to see {directory}, which all workers share")


def _sees(path: str) -> tuple[str, bool]:
    return __version__, Path(path).exists()
