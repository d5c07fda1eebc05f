"""A night in tasks: the same bytes whoever runs them, and whoever of them is killed.

Tests also training/evaluate/parallel.py.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from joblib import delayed

from birthmark.predictor import BUILT_IN, TrainedModel
from birthmark.predictor.fit.learning import Learner
from birthmark.predictor.fit.tasks import TaskLearner
from birthmark.training import engine
from birthmark.training.config import (
    Config,
    Datasets,
    Engine,
    RegistryConfig,
    Server,
    Traces,
    Training,
)
from birthmark.training.engine import EngineError, current, opened
from birthmark.training.nightly.run import nightly

pytestmark = pytest.mark.deep

Day = tuple[pa.Table, pa.Table]
Say = Callable[[str], None]


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def in_turn(tasks: Iterable[Any]) -> list[Any]:
    return [function(*given, **named) for function, given, named in tasks]


@pytest.mark.parametrize("calibration", [0.0, 0.2])
def test_models_that_learn_apart_are_those_that_learn_together(
    calibration: float, days: list[Day], tmp_path: Path
) -> None:
    (tmp_path / "tasks").mkdir()
    learners: dict[str, Learner | None] = {
        "here": None,
        "apart": TaskLearner(tmp_path / "tasks", in_turn, slice_rows=7),
    }
    for name, learner in learners.items():
        model = TrainedModel(trees=4, rounds=2, calibration=calibration)
        model.train(*days[0], BUILT_IN.values(), learner=learner)
        (tmp_path / name).mkdir()
        model.save(tmp_path / name)
    assert contents(tmp_path / "apart") == contents(tmp_path / "here")


class Site:
    """Two servers, with one day ingested, and a second one pending."""

    def __init__(self, folder: Path, traces: list[str]) -> None:
        self.folder, self._traces = folder / "site", traces
        self._before = folder / "before"
        self._bring(0)
        self.night(Engine(workers=1))
        self._bring(1)
        shutil.copytree(self.folder, self._before)

    def _bring(self, day: int) -> None:
        for server in ("home", "mail"):
            path = self.folder / "traces" / server / f"{day}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            # What other clients ask has other numbers, so that no two traces are the same.
            path.write_text(self._traces[day].replace("31.03ff", f"{len(server) + day}5.03ff"))
            os.utime(path, (0, 0))

    def night(self, settings: Engine, say: Say = lambda text: None) -> None:
        config = Config(
            traces=Traces(settle_seconds=0),
            servers=[
                Server(name=name, files=[str(self.folder / "traces" / name / "*")])
                for name in ("home", "mail")
            ],
            datasets=Datasets(directory=self.folder / "datasets"),
            registry=RegistryConfig(directory=self.folder / "registry"),
            training=Training(trees=2, rounds=1, calibration=0.5),
            engine=settings,
        )
        nightly(config, say)

    def second_night(self, settings: Engine, say: Say = lambda text: None) -> dict[str, bytes]:
        """Return all that the second night leaves, but for what tells the time."""
        shutil.rmtree(self.folder)
        shutil.copytree(self._before, self.folder)
        self.night(settings, say)
        versions = sorted((self.folder / "registry" / "versions").iterdir())
        assert len(versions) == 2
        manifest = versions[1] / "manifest.json"
        report = json.loads(manifest.read_text())
        del report["created"], report["version"]
        manifest.write_text(json.dumps(report))
        versions[1].rename(versions[1].with_name("second"))
        shutil.rmtree(self.folder / "traces")
        left = contents(self.folder)
        timed = {f"registry/{name}" for name in ("current", "history", "nightly.json")}
        return {name: left[name] for name in left.keys() - timed}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, traces: list[str]) -> Site:
    return Site(tmp_path_factory.mktemp("site"), traces)


@pytest.fixture(scope="module")
def alone(site: Site) -> dict[str, bytes]:
    """Return what the second night leaves where one process does it all."""
    return site.second_night(Engine(workers=1))


def test_a_night_in_this_process_tests_both_servers_and_trains(alone: dict[str, bytes]) -> None:
    tested = [name for name in alone if name.endswith("evaluation.json")]
    assert sorted(name.split("-")[1] for name in tested) == ["home", "mail"]
    assert any(name.startswith("registry/versions/second/models.zip") for name in alone)


def test_processes_leave_the_same_bytes(site: Site, alone: dict[str, bytes]) -> None:
    assert site.second_night(Engine(workers=2)) == alone


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Return a Dask cluster of three worker processes on this machine."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None
    ) as cluster:
        yield cluster


def test_a_cluster_leaves_the_same_bytes_though_a_worker_is_killed_at_work(
    site: Site, alone: dict[str, bytes], cluster: Any
) -> None:
    from distributed import Client

    killed: list[int] = []

    def kill_one_at_work() -> None:
        with Client(cluster.scheduler_address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
            while not (busy := [worker for worker, keys in client.processing().items() if keys]):
                time.sleep(0.01)
        pids = {worker.worker_address: worker.pid for worker in cluster.workers.values()}
        os.kill(pids[busy[0]], signal.SIGKILL)
        killed.append(pids[busy[0]])

    killer = threading.Thread(target=kill_one_at_work)

    def say(step: str) -> None:
        if step.startswith("training"):
            killer.start()

    dask = Engine(kind="dask", scheduler=cluster.scheduler_address)
    assert site.second_night(dask, say) == alone
    killer.join()
    assert killed[0] not in [worker.pid for worker in cluster.workers.values()]


def test_the_workers_of_an_engine_are_current_while_it_is_open(tmp_path: Path) -> None:
    assert current().alone
    with opened(Engine(workers=2), tmp_path) as workers:
        assert current() is workers
        assert workers.run(delayed(pow)(2, n) for n in range(5)) == [1, 2, 4, 8, 16]
    assert current().alone


def test_an_address_without_a_scheduler_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr(engine, "WAIT", 0.2)
    nowhere = Engine(kind="dask", scheduler="tcp://127.0.0.1:9")
    with (
        pytest.raises(EngineError, match=r"tcp://127\.0\.0\.1:9: expected a scheduler of Dask"),
        opened(nowhere, tmp_path),
    ):
        pass


def test_a_cluster_without_the_package_for_it_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    dask = Engine(kind="dask", scheduler="tcp://127.0.0.1:9")
    with pytest.raises(EngineError, match=r"distributed"), opened(dask, tmp_path):
        pass
