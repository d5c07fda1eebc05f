"""The command `birthmark research replay`.

Tests also research/commands/replay.py.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from birthmark.data.samples import DAYS
from tests.birthmark.test_cli import birthmark as run_birthmark


def birthmark(*arguments: object) -> subprocess.CompletedProcess[bytes]:
    return run_birthmark("research", "replay", *arguments)


@pytest.mark.deep
def test_it_builds_and_runs_and_says_what_it_did(tmp_path: Path) -> None:
    section = ("--from", "2026-11-21T05:44:00", "--to", "1795239841")
    built = birthmark("build", DAYS[1], *section, "--out", tmp_path / "b")
    assert (built.returncode, built.stderr) == (0, b"")
    assert re.search(rb"^calls +([\d,]+) = \1 operations \+ 0 left out$", built.stdout, re.M)
    ran = birthmark("run", tmp_path / "b", "--root", tmp_path / "root")
    assert (ran.returncode, ran.stderr) == (0, b"")
    assert b"share       100.00% of those compared" in ran.stdout
    again = birthmark("run", tmp_path / "b", "--root", tmp_path / "root")
    assert (again.returncode, again.stdout) == (1, b"")
    assert b"root: expected an empty directory" in again.stderr


def test_it_prints_one_object_as_json_and_nothing_else(tmp_path: Path) -> None:
    section = ("--from", "1795239840.5", "--to", "1795239841")
    built = birthmark("build", DAYS[1], *section, "--out", tmp_path / "b", "--json")
    assert json.loads(built.stdout)["section"] == [1_795_239_840_500_000, 1_795_239_841_000_000]
    ran = birthmark("run", tmp_path / "b", "--root", tmp_path / "r", "--json")
    results = json.loads((tmp_path / "b" / "results.json").read_text())
    assert json.loads(ran.stdout) == results
    assert results["share"] == 1


def test_it_says_what_a_time_looks_like(tmp_path: Path) -> None:
    run = birthmark("build", DAYS[1], "--from", "noon", "--out", tmp_path / "b")
    assert run.returncode == 2
    assert b"expected a time such as" in run.stderr
