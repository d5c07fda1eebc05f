"""Faults of the service under requests without a pause: every answer is the right one."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from birthmark.serving.answers.json_answers import predict
from birthmark.serving.models.loaded import load_model
from birthmark.training.registry.versions import Registry
from tests.faults.asking import ask, asking
from tests.faults.damage import KINDS, damaged
from tests.faults.disks import Disk, mounted
from tests.serving.services import publish, started, total
from tests.waiting import eventually

pytestmark = pytest.mark.deep

Tell = Callable[[str], None]

THREADS = 2
LOADED = 'birthmark_model_loads_total{outcome="loaded"}'
TRIED = "birthmark_model_loads_total"
PATH = "/v1/predictions"
BODY = json.dumps([{"name": "x.lock"}, {"name": "page1.html"}, {"name": "a.log"}]).encode()


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    """Return a small disk for the service's files."""
    with mounted(tmp_path_factory.mktemp("disk"), "64m") as disk:
        yield disk


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    path = tmp_path_factory.mktemp("served") / "registry"
    publish(path, heat=True)
    return Registry(path)


@pytest.fixture(scope="module")
def right(registry: Registry) -> bytes:
    """Return the only right answer to `BODY`."""
    return predict(load_model(registry), BODY)[0]


@contextmanager
def serving(registry: Registry, disk: Disk, port: int = 0) -> Iterator[Any]:
    """Serve in two threads; log and temporary files are on the disk."""
    options = ["--threads", str(THREADS), "--poll-seconds", "0.05", "--port", str(port)]
    before = os.environ.get("TMPDIR")
    os.environ["TMPDIR"] = str(disk.path)  # which started processes inherit
    options += ["--log-predictions", str(disk.path / "log"), "--log-minutes", "0.001"]
    try:
        with started(registry.path, registry.path.parent, *options) as service:
            assert eventually(lambda: total(service, LOADED) >= 1, 60)
            yield service
    finally:
        if before is None:
            os.environ.pop("TMPDIR", None)
        else:
            os.environ["TMPDIR"] = before


@pytest.fixture(scope="module")
def service(registry: Registry, disk: Disk) -> Iterator[Any]:
    with serving(registry, disk) as service:
        yield service


@contextmanager
def watched(service: Any, right: bytes, lost: bool = False) -> Iterator[Any]:
    """Send requests during the block: every answer is right, and none lost unless `lost`."""
    with asking(service.address, {PATH: BODY}) as responses:
        yield responses
    assert set(responses[PATH].answers) == {(200, right)}, responses[PATH].answers.keys()
    assert lost or not responses[PATH].broken


def test_files_of_the_version_that_answers_are_damaged(
    service: Any, registry: Registry, right: bytes, tell: Tell
) -> None:
    version = registry.current()
    assert version is not None
    directory = registry.directory(version)
    manifest = registry.manifest(version)
    parts = ["manifest.json", *manifest["parts"]]
    with watched(service, right) as responses:
        for kind in KINDS:
            for part in parts:
                with damaged(directory / part, kind):
                    if part.endswith((".image", "manifest.json")):
                        tries = total(service, TRIED)
                        registry.path.joinpath("current").touch()  # it checks again
                        assert eventually(lambda t=tries: total(service, TRIED) > t)
    registry.verify(version)
    tell(
        f"{len(parts)} files of the served version {', '.join(KINDS)}:"
        f" {responses[PATH].requests} answers, all right, none failed"
    )


def test_the_disk_that_it_writes_to_fills_up(
    service: Any, disk: Disk, right: bytes, tell: Tell
) -> None:
    with disk.filled(), watched(service, right) as responses:
        with service.client() as client:
            for path in ("/healthz", "/readyz", "/v1/model", "/nothing", "/metrics", "/"):
                for method in ("GET", "POST", "PUT", "OPTIONS"):
                    client.request(method, path)
                    client.request(method, path, content=b"{")
            report = {"host": "nas", "device": "/dev/birthmark", "counters": {"asked": 1}}
            assert client.post("/v1/hints/report", json=report).status_code == 204
        failed = 'birthmark_log_rows_total{outcome="failed"}'
        assert eventually(lambda: total(service, failed) > 0)
    assert service.process.poll() is None
    written = 'birthmark_log_rows_total{outcome="written"}'
    before = total(service, written)
    with watched(service, right):
        assert eventually(lambda: total(service, written) > before)
    tell(
        f"disk full: {responses[PATH].requests} answers, all right, none failed;"
        f" {total(service, failed):.0f} rows of the log counted as failed, logged again since"
    )


def test_the_service_is_killed(
    service: Any, registry: Registry, disk: Disk, right: bytes, tell: Tell
) -> None:
    with watched(service, right, lost=True) as responses:
        service.process.kill()
        service.process.wait(30)
        began = time.monotonic()
        with serving(registry, disk, service.address[1]) as again:
            seconds = time.monotonic() - began
            assert again.address == service.address
            for _ in range(100):
                assert ask(again.address, PATH, BODY) == (200, right)
    tell(
        f"kill -9 of the service: started again on the same port in {seconds:.1f} s,"
        f" {responses[PATH].requests} answers, all right"
    )
