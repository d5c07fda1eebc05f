"""Registries with models of small days, and services on them, here or in a separate process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Any

import httpx

from birthmark.predictor.predicates import FILE_PREDICATES, HEAT_PREDICATES, NAME_PREDICATES
from birthmark.predictor.trained import TrainedModel
from birthmark.serving.server.run import answering, listen, url
from birthmark.serving.settings import Settings
from birthmark.training.nightly.card import card_of, save_card
from birthmark.training.registry.versions import Registry
from tests import needs
from tests.builders.lives import MONDAY, files_of, life, names_of
from tests.waiting import eventually


def lives(suffix: str) -> list[dict[str, Any]]:
    """Return a day on which names that end in `.suffix` are locks, and pages live for ever."""
    rows = []
    for number in range(20):
        born = 60.0 * number
        rows.append(life(b"u%d.%s" % (number, suffix.encode()), born, 0.1, max_size=0))
        page = b"page%d.html" % number
        rows.append(life(page, born, max_size=50_000, writes=7, mode=0o644))
    return rows


def logs() -> list[dict[str, Any]]:
    """Return files of one block that are overwritten all day."""
    counts = {"max_size": 3000, "writes": 300, "bytes_written": 3000}
    return [life(b"app%d.log" % number, 60.0 * number, **counts) for number in range(20)]


def day(suffix: str, heat: bool) -> list[dict[str, Any]]:
    """Return the lives of a day: `lives`, and with `heat` logs, too."""
    return lives(suffix) + (logs() if heat else [])


@cache
def trained(suffix: str, heat: bool) -> TrainedModel:
    """Return a model of a `day`, trained once in each process."""
    rows = day(suffix, heat)
    return TrainedModel(calibration=0).train(
        files_of(*rows),
        names_of(*({**row, "writes": 0} for row in rows)),
        [
            *FILE_PREDICATES.values(),
            *NAME_PREDICATES.values(),
            *(HEAT_PREDICATES.values() if heat else []),
        ],
    )


def publish(
    registry: Path,
    suffix: str = "lock",
    current: bool = True,
    heat: bool = False,
    card: bool = False,
) -> str:
    """Store a model that was trained on a `day`, and make it current; return its version.

    With `heat` it knows the predicates of heat, too; with `card` it has one.
    """
    model, rows = trained(suffix, heat), day(suffix, heat)
    manifest: dict[str, Any] = {
        "serve": "name",
        "point": "accurate",
        "trained_on": {"datasets": [suffix], "files": len(rows)},
        "figures": [],
    }
    keep = Registry(registry).publish if current else Registry(registry).store
    if not card:
        return keep(partial(model.save, kind="name"), manifest)
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
        model.save(directory, "name")
        save_card(card_of(model, manifest, None, None), directory)

    return keep(write_parts, manifest)


def settings_for(registry: Path, **others: Any) -> Settings:
    """Return settings for a test: a free port, and a short polling interval."""
    return Settings.model_validate({"registry": registry, "port": 0, "poll_seconds": 0.01} | others)


@contextmanager
def served(settings: Settings) -> Iterator[httpx.Client]:
    """Serve over real connections at a free port of this host; yield a client."""
    with listen(settings) as listener, answering(settings, listener):
        place = url(listener)
        unix = place.removeprefix("unix:") if settings.uds else None
        base = "http://localhost" if unix else place
        transport = httpx.HTTPTransport(uds=unix)
        with httpx.Client(base_url=base, transport=transport, timeout=30) as client:
            yield client


@dataclass
class Process:
    """``birthmark serve`` in a separate process, and its URL."""

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


def certified(folder: Path) -> tuple[Path, Path]:
    """Make a certificate for this host in a folder, with openssl; return it and its key."""
    files = folder / "certificate.pem", folder / "key.pem"
    made = [needs.program("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes"]
    made += ["-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    made += ["-out", str(files[0]), "-keyout", str(files[1])]
    subprocess.run(made, check=True, capture_output=True)
    return files


def alive(process: int) -> bool:
    """Return whether a process runs (Linux)."""
    stat = Path(f"/proc/{process}/stat")
    return stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"


def total(service: Process, metric: str) -> float:
    """Return the sum of the samples of a metric whose text begins so."""
    with service.client() as client:
        text = client.get("/metrics").text
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(metric))
