"""A small site: a finished night with a published model, and the traces of the next night."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data.prediction_log import PREDICTIONS
from birthmark.features import from_requests
from birthmark.serving.models.loaded import load_model
from birthmark.training.config import read_config
from birthmark.training.nightly.intake import datasets
from birthmark.training.registry.versions import Registry
from tests.builders.lives import MONDAY, day_of_lives
from tests.builders.traces import trace_of
from tests.faults import commands
from tests.faults.disks import Disk

CONFIG = """
[traces]
files = ["traces/*"]
settle_seconds = 60
[datasets]
directory = "datasets"
[registry]
directory = "registry"
[training]
trees = 2
rounds = 1
mincount = 3
calibration = 0
serve = "name"
point = "accurate"
[audit]
log = "log"
[engine]
workers = 1
"""
NAMES = (b"inbox.lock", b"#pico00001", b"page1.html", b"other")
EACH = 6
"""The number of locks, drafts and pages in a trace."""

WRITTEN = datetime(2001, 11, 1, tzinfo=UTC).timestamp()
"""The modification time of the traces."""

STEPS = {
    "intake": r"datasets/(\.incoming|\.[^/]*\.new|\.ledger|ledger|20011023[^/]*($|/\.ingest))",
    "audit": r"registry/(audits|\.?thresholds)",
    "test": r"(datasets/20011023[^/]*/\.?(report|evaluation)|registry/\.?report)",
    "parts": r"registry/versions/\.incoming",
    "pointer": r"registry/\.?(history|current)",
}
"""The directory in which each step of a night changes files, in the order of the steps."""


@dataclass
class Site:
    """The site on a disk before the second night; `restore` restores that state.

    `first` is the published version, `answers` its answers about `NAMES`, by version. `done` are
    the files after an undisturbed second night, with `rows` operations in all, and `operations`
    those of that night. `beside` holds the tests' own files.
    """

    disk: Disk
    beside: Path
    first: str = ""
    operations: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.home = self.disk.path / "home"
        self.registry = Registry(self.home / "registry")
        self.answers: dict[str, Any] = {}
        self._saved = self.beside / "saved"
        self._lay_out()
        assert self.night() == 0, self.output()
        (self.first,) = self.registry.versions()
        self._log_predictions()
        for part in "ab":
            self.bring(f"day1{part}.txt", 1, half=part)
        shutil.copytree(self.home, self._saved)
        free = self.disk.free()
        record = self.beside / "operations"
        assert self.night(commands.Recorded(self.label, record)) == 0, self.output()
        self.operations = tuple(dict.fromkeys(record.read_text().splitlines()))
        self.done = self.state()
        self.rows = self.count()
        self.need = free - self.disk.free()
        self.restore()

    def _lay_out(self) -> None:
        (self.home / "traces").mkdir(parents=True)
        (self.home / "birthmark.toml").write_text(CONFIG)
        self.bring("day0.txt", 0)

    def bring(self, name: str, day: int, half: str = "") -> Path:
        """Add a trace of a day, or of the first or second half of its lives."""
        lives = day_of_lives(MONDAY + timedelta(days=day), EACH)
        lives = {"": lives, "a": lives[: 2 * EACH], "b": lives[2 * EACH :]}[half]
        path = self.home / "traces" / name
        path.write_text(trace_of(lives))
        os.utime(path, (WRITTEN, WRITTEN))
        return path

    def _log_predictions(self) -> None:
        """Log one prediction served on the second day."""
        day = self.home / "log" / "20011023"
        day.mkdir(parents=True)
        row = {"time": MONDAY + timedelta(days=1), "name": b"inbox.lock", "uid": 1}
        row |= {"answer:lock": True, "model": self.first, "kind": "name", "point": "accurate"}
        columns = pa.schema([*PREDICTIONS, pa.field("answer:lock", pa.bool_())])
        pq.write_table(pa.Table.from_pylist([row], schema=columns), day / "1.parquet")

    def restore(self) -> None:
        """Restore the state before the second night."""
        shutil.rmtree(self.home)
        shutil.copytree(self._saved, self.home)

    def night(self, before: Callable[[], object] | None = None) -> int:
        """Run the nightly command; return its exit code (negative: the signal that ended it)."""
        config = str(self.home / "birthmark.toml")
        return self.command("nightly", "--config", config, before=before)

    def command(self, *arguments: str, before: Callable[[], object] | None = None) -> int:
        """Run any command; return its exit code. `output` returns what it printed."""
        return commands.run(self.beside / "output", *arguments, before=before)

    def output(self) -> str:
        """Return the output of the last command."""
        return (self.beside / "output").read_text()

    def label(self, event: str, path: str) -> str | None:
        """Name an operation, reproducibly; None outside the site."""
        place = os.path.relpath(path, self.home)
        if place.split("/")[0] not in ("datasets", "registry"):
            return None
        return f"{event} {re.sub(r'-[0-9]+[.]new', '.new', place)}"

    def step(self, operation: str) -> str | None:
        """Return the step of the night that an operation belongs to."""
        place = operation.split()[1]
        return next((step for step, where in STEPS.items() if re.match(where, place)), None)

    def state(self) -> dict[str, bytes]:
        """Return every file by its path, with versions by their number, since their names have
        times.

        The state of the last night also has times, and is left out.
        """
        names = {
            version.encode(): b"<%d>" % n for n, version in enumerate(self.registry.versions())
        }

        def named(content: bytes) -> bytes:
            for version, number in names.items():
                content = content.replace(version, number)
            return re.sub(rb'"created": "[^"]*"', b'"created": ""', content)

        return {
            named(os.fsencode(path.relative_to(self.home))).decode(): named(path.read_bytes())
            for path in sorted(self.home.rglob("*"))
            if path.is_file() and path.name != "nightly.json"
        }

    def differences(self) -> list[str]:
        """Return the files that differ from those after an undisturbed night."""
        found = self.state()
        return sorted(p for p in found | self.done if found.get(p) != self.done.get(p))

    def check(self) -> str:
        """Check that all files are readable and complete; describe them."""
        versions = self.registry.versions()
        for version in versions:
            self.registry.verify(version)
        held = datasets(self.home / "datasets")
        for dataset in held:
            place = f"datasets/{dataset.path.name}/"
            own = {p: c for p, c in self.state().items() if p.startswith(place) and "/." not in p}
            assert own.items() <= self.done.items()
            assert self.tables(own) == self.tables(self.done, place)
        return f"{len(versions)} versions and {len(held)} datasets are whole, the first answers"

    def models(self, *arguments: str) -> int:
        """Run ``birthmark models`` on the registry; return its exit code."""
        return self.command("models", *arguments, "--registry", str(self.home / "registry"))

    @staticmethod
    def tables(files: Collection[str], below: str = "") -> set[str]:
        """Return the paths of tables."""
        return {p for p in files if p.startswith(below) and p.endswith(".parquet")}

    def count(self) -> int:
        """Return the number of operations in all datasets."""
        config = read_config(self.home / "birthmark.toml")
        paths = config.datasets.directory.glob("[!.]*/operations/**/*.parquet")
        return sum(pq.ParquetFile(path).metadata.num_rows for path in paths)

    def served(self) -> tuple[str, Any]:
        """Return the current version, and its answers about `NAMES`."""
        model = load_model(self.registry)
        answers = model.answers(from_requests([{"name": name} for name in NAMES]))
        return model.version, {key: answer.to_pylist() for key, answer in answers.items()}
