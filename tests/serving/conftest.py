"""A registry with two published models, and the service on it."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pytest

from birthmark.data.schema import FILES, NAMES
from birthmark.predictor.predicates import FILE_PREDICATES, HEAT_PREDICATES, NAME_PREDICATES
from birthmark.predictor.trained import TrainedModel
from birthmark.serving.settings import Settings
from birthmark.serving.workers.server import config, listen, url
from birthmark.serving.workers.supervisor import Server
from birthmark.training.nightly.card import card_of
from birthmark.training.registry.versions import Registry

MONDAY = datetime(2001, 10, 22, tzinfo=UTC)
COUNTERS = ("operations", "reads", "writes", "bytes_read", "bytes_written")


def life(name: bytes, number: int, lifespan: float | None, **columns: Any) -> dict[str, Any]:
    """Return a row for the files and the names table; `lifespan` in seconds, None: for ever."""
    born = MONDAY + timedelta(minutes=number)
    until = MONDAY + timedelta(days=1) if lifespan is None else born + timedelta(seconds=lifespan)
    return {
        "server": "home",
        "dir_fh": b"directory",
        "fh": name + bytes([number]),
        "name": name,
        "kind": "file",
        "how_born": "create",
        "born": born,
        "birth_seen": True,
        "first_seen": born,
        "last_seen": until,
        "died": None if lifespan is None else until,
        "death_seen": lifespan is not None,
        "how_died": None if lifespan is None else "remove",
        "observed_until": until,
        "mode": 0o600,
        "uid": 1,
        "gid": 1,
        **dict.fromkeys(COUNTERS, 0),
        **columns,
    }


def lives(suffix: str) -> list[dict[str, Any]]:
    """Return a day on which names that end in `.suffix` are locks, and pages live for ever."""
    rows = []
    for number in range(20):
        rows.append(life(b"u%d.%s" % (number, suffix.encode()), number, 0.1, max_size=0))
        page = b"page%d.html" % number
        rows.append(life(page, number, None, max_size=50_000, writes=7, mode=0o644))
    return rows


def logs() -> list[dict[str, Any]]:
    """Return files of one block that are written into all day."""
    counts = {"max_size": 3000, "writes": 300, "bytes_written": 3000}
    return [life(b"app%d.log" % number, number, None, **counts) for number in range(20)]


def publish(
    registry: Path,
    suffix: str = "lock",
    current: bool = True,
    heat: bool = False,
    card: bool = False,
) -> str:
    """Store a model that was trained on `lives`, and make it current; return its version.

    With `heat` it learns of logs, too, and knows the predicates of heat; with `card` it has one.
    """
    rows = lives(suffix) + (logs() if heat else [])
    names = [{**row, "file_max_size": row["max_size"], "file_writes": 0} for row in rows]
    model = TrainedModel(calibration=0).fit(
        pa.Table.from_pylist(rows, schema=FILES),
        pa.Table.from_pylist(names, schema=NAMES),
        [
            *FILE_PREDICATES.values(),
            *NAME_PREDICATES.values(),
            *(HEAT_PREDICATES.values() if heat else []),
        ],
    )
    manifest: dict[str, Any] = {
        "serve": "name",
        "point": "accurate",
        "trained_on": {"datasets": [suffix], "files": len(rows)},
        "figures": [],
    }
    keep = Registry(registry).publish if current else Registry(registry).store
    if not card:
        return keep(model.save, manifest)
    manifest |= {"parameters": {}, "seed": 0}
    manifest["trained_on"] |= {
        "generated": [],
        "servers": ["home"],
        "since": MONDAY.isoformat(),
        "until": (MONDAY + timedelta(days=1)).isoformat(),
        "names": len(rows),
        "loss": {"files": 0, "names": 0, "left_out": False},
    }

    def write_parts(directory: Path) -> None:
        model.save(directory)
        card_of(model, manifest, None, None).save(directory)

    return keep(write_parts, manifest)


@pytest.fixture(scope="session", name="publish")
def publish_fixture() -> Callable[..., str]:
    return publish


def settings_for(registry: Path, **others: Any) -> Settings:
    """Return settings that suit a test: a free port, a new model noticed at once."""
    return Settings.model_validate({"registry": registry, "port": 0, "poll_seconds": 0.01} | others)


@pytest.fixture(scope="session", name="settings_for")
def settings_for_fixture() -> Callable[..., Settings]:
    return settings_for


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Return settings with a registry in which nothing is published yet."""
    return settings_for(tmp_path / "registry")


@contextmanager
def served(settings: Settings) -> Iterator[httpx.Client]:
    """Serve over real connections at a free port of this host; yield a client."""
    with listen(settings) as listener:
        server = Server(config(settings))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            place = url(listener)
            unix = place.removeprefix("unix:") if settings.uds else None
            base = "http://localhost" if unix else place
            transport = httpx.HTTPTransport(uds=unix)
            with httpx.Client(base_url=base, transport=transport, timeout=30) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Return a client of a service that tests share: its model stays, its metrics grow."""
    settings = settings_for(
        tmp_path_factory.mktemp("shared") / "registry", max_body_bytes=2_000_000
    )
    publish(settings.registry)
    with served(settings) as client:
        yield client


@pytest.fixture(scope="session", name="served")
def served_fixture() -> Callable[..., Any]:
    return served


@dataclass
class Process:
    """``birthmark serve`` in a process of its own, and where it answers."""

    process: subprocess.Popen[str]
    url: str
    log: Path

    def client(self, **options: Any) -> httpx.Client:
        """Return a client of it."""
        return httpx.Client(base_url=self.url, timeout=300, **options)

    @property
    def address(self) -> tuple[str, int]:
        """Return its host and port."""
        host, port = self.url.split("://")[1].rsplit(":", 1)
        return host, int(port)


@contextmanager
def started(registry: Path, directory: Path, *options: str, wait: bool = True) -> Iterator[Process]:
    """Start the service at a free port; yield it once its model answers; stop it."""
    command = [sys.executable, "-m", "birthmark", "serve", "--port", "0", *options]
    log = directory / "log"
    with (
        log.open("w") as file,
        subprocess.Popen(
            [*command, "--registry", str(registry)], text=True, stdout=subprocess.PIPE, stderr=file
        ) as process,
    ):
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, log.read_text()
            service = Process(process, line.split()[-1], log)
            if wait:
                with service.client(verify=False) as client:
                    assert eventually(lambda: client.get("/readyz").status_code == 200, 300)
            yield service
        finally:
            process.terminate()
            try:
                process.wait(30)
            finally:
                process.kill()


@pytest.fixture(scope="session", name="started")
def started_fixture() -> Callable[..., Any]:
    return started


def eventually(holds: Callable[[], bool], seconds: float = 20) -> bool:
    """Tell whether `holds` comes true within `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.01)
    return False


@pytest.fixture(scope="session", name="eventually")
def eventually_fixture() -> Callable[..., bool]:
    return eventually
