"""kill -9 of an ingest, before any of its moves: all of its rows are there, or none."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from birthmark.data.datasets.tables import TABLES, read_table
from birthmark.data.ingest.run import ingest
from tests.data.ingest.test_run import create
from tests.faults import commands

pytestmark = pytest.mark.deep

NOON = 1_000_000_000 - 1_000_000_000 % 86_400


class Ingests:
    """A dataset, and an ingest into it that is to be killed.

    `operations` are those of an undisturbed ingest, `files` the files after it, and `whole` the
    number of rows; `before` is the number of rows before it.
    """

    def __init__(self, home: Path, into: Path | None) -> None:
        self.out, self._home, self._into = home / "out", home, into
        self._trace = home / "trace.txt"
        self._trace.write_text(create(NOON, 1) + "XX Funny line (1)\n")
        record = home / "operations"
        self.restore()
        self.before = self.rows()
        assert self.run(commands.Recorded(self.label, record)) == 0
        self.operations = record.read_text().splitlines()
        self.whole, self.files = self.rows(), self.found()

    def restore(self) -> None:
        """Restore the state before the ingest."""
        shutil.rmtree(self.out, ignore_errors=True)
        if self._into:
            shutil.copytree(self._into, self.out)

    def run(self, before: Callable[[], object] | None = None) -> int:
        """Ingest; return the exit code (negative: the signal that ended it)."""
        arguments = ("ingest", str(self._trace), "--out", str(self.out))
        return commands.run(self._home / "output", *arguments, before=before)

    def label(self, event: str, path: str) -> str | None:
        """Name a move or a removal; None for other changes, and outside the dataset."""
        place = os.path.relpath(path, self.out)
        is_here = event in ("os.rename", "os.remove") and not place.startswith("..")
        return f"{event} {place}" if is_here else None

    def rows(self) -> list[int]:
        """Return the number of rows of the tables, as far as there is a dataset."""
        if not (self.out / "ingests").exists():
            return [0] * len(TABLES)
        return [read_table(self.out, table).num_rows for table in TABLES]

    def is_recorded(self) -> bool:
        """Return whether the ingest's record has been renamed into place."""
        return (self.out / "ingests" / ("0002.json" if self._into else "0001.json")).exists()

    def found(self) -> set[str]:
        """Return the files in the dataset's directory."""
        return {path.relative_to(self.out).as_posix() for path in self.out.rglob("*")}


@pytest.mark.parametrize("is_new", [True, False], ids=["new", "more"])
def test_an_ingest_killed_at_any_instant_is_there_whole_or_not_at_all(
    is_new: bool, tmp_path: Path, tell: Callable[[str], None]
) -> None:
    if not is_new:
        (tmp_path / "first.txt").write_text(create(NOON, 3))
        ingest([tmp_path / "first.txt"], tmp_path / "into")
    own = Ingests(tmp_path, None if is_new else tmp_path / "into")
    for operation in own.operations:
        own.restore()
        killed = commands.KilledBefore(own.label, operation)
        assert own.run(killed) == -signal.SIGKILL, operation
        if not own.is_recorded():
            assert own.rows() == own.before, operation
            assert own.run() == 0, operation
            assert own.found() == own.files, operation
        assert own.rows() == own.whole, operation
    moves = [operation for operation in own.operations if operation.startswith("os.rename")]
    assert len(moves) == 7, (
        "the record to its name, then five files and the record into the dataset"
    )
    tell(f"ingest killed before each of {len(own.operations)} changes: whole, or not at all")
