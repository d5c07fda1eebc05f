from __future__ import annotations

import json
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import compare_measure
from benchmarks.compare import MEASURES, Rates, Spread, figures, measured, table, to_json
from benchmarks.compare_build import Build, Commit, checkout

ROOT = Path(__file__).resolve().parents[2]
COMMITS = Commit("before", "0" * 40), Commit("after", "1" * 40)


def rates(rate: float, work_rate: float | None = None) -> Rates:
    worked = {} if work_rate is None else {"work_rate": work_rate}
    return {"rows/s": {"rate": rate} | worked}


def test_a_spread_is_the_median_and_the_range() -> None:
    assert Spread.of([3.0, 1.0, 2.0, 10.0]) == Spread(2.5, 1.0, 10.0)
    assert str(Spread.of([1.5])) == "1.50 (1.50 to 1.50)"


def test_a_ratio_is_new_to_old_within_a_round() -> None:
    """The machine is half as fast in the second round: neither commit is."""
    rounds = [(rates(100, 200), rates(110, 180)), (rates(50, 200), rates(55, 200))]
    (figure,) = figures("ingest", rounds)
    assert (figure.old, figure.new) == (Spread(75, 50, 100), Spread(82.5, 55, 110))
    assert figure.ratio.least == pytest.approx(1.1)
    assert figure.ratio.most == pytest.approx(1.1)
    assert figure.work_ratio == Spread(0.95, 0.9, 1.0)


def test_a_rate_without_processor_time_has_no_ratio_by_it() -> None:
    (figure,) = figures("layout", [(rates(1), rates(2))])
    assert figure.work_ratio is None


def test_figures_that_only_one_commit_has_are_refused() -> None:
    with pytest.raises(KeyError, match="rows/s"):
        figures("ingest", [(rates(1), {})])


def test_the_table_has_a_line_for_each_figure() -> None:
    found = [
        *figures("ingest", [(rates(4_000_000, 3e6), rates(5_000_000, 3e6))]),
        *figures("serving", [({"x": {"rate": 0.36}}, {"x": {"rate": 0.72}})]),
    ]
    console = Console(width=140)
    with console.capture() as captured:
        console.print(table(found, *map(str, COMMITS)))
    lines = captured.get().splitlines()
    assert "after (1111111) to before (0000000)" in lines[0]
    (first,) = (line for line in lines if "ingest" in line)
    ratio, same = "1.25 (1.25 to 1.25)", "1.00 (1.00 to 1.00)"
    assert [cell.strip() for cell in first.strip("│").split("│")] == [
        *("ingest", "rows/s", "4,000,000", "5,000,000", ratio, same)
    ]
    (second,) = (line for line in lines if "serving" in line)
    assert [cell.strip() for cell in second.strip("│").split("│")][2:] == [
        *("0.36", "0.72", "2.00 (2.00 to 2.00)", "")
    ]


def test_the_file_says_what_was_compared() -> None:
    found = figures("ingest", [(rates(1, 1), rates(2, 3))])
    result = to_json(found, Namespace(old=COMMITS[0], new=COMMITS[1], rounds=1))
    assert json.loads(json.dumps(result))["figures"] == [
        {
            "what": "ingest",
            "name": "rows/s",
            "old": {"median": 1, "least": 1, "most": 1},
            "new": {"median": 2, "least": 2, "most": 2},
            "ratio": {"median": 2, "least": 2, "most": 2},
            "work_ratio": {"median": 3, "least": 3, "most": 3},
        }
    ]
    assert (result["old"]["hash"], result["new"]["name"]) == ("0" * 40, "after")


def test_the_script_measures_all_that_can_be_asked_for() -> None:
    assert tuple(compare_measure.MEASURES) == MEASURES


def test_a_commit_is_found_by_any_name_and_refused_by_none() -> None:
    head = Commit.named("HEAD")
    assert Commit.named(head.hash[:12]).hash == head.hash
    with pytest.raises(SystemExit, match="no-such-branch: no commit of"):
        Commit.named("no-such-branch")


def test_a_checkout_has_the_files_of_the_commit_dated_now(tmp_path: Path) -> None:
    earlier = tmp_path.stat().st_mtime
    checkout(Commit.named("HEAD"), tmp_path / "of")
    assert (tmp_path / "of/pyproject.toml").stat().st_mtime >= earlier
    assert not (tmp_path / "of/.git").exists()


def test_the_script_needs_only_what_the_environment_of_a_commit_has() -> None:
    """It runs from no folder of the project, with nothing beside it importable."""
    command = [sys.executable, "-P", "-S", compare_measure.__file__]
    result = subprocess.run([*command, "none", ".", ".", "1"], capture_output=True, text=True)
    assert "KeyError: 'none'" in result.stderr


def test_a_rate_of_a_build_is_what_its_own_python_prints(tmp_path: Path) -> None:
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho \'{"rows/s": {"rate": 2.0}}\'\n')
    python.chmod(0o755)
    assert measured("ingest", Build(tmp_path), tmp_path, 1) == rates(2.0)
