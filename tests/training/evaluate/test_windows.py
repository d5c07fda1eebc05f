from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pytest
from pyarrow.parquet import read_table
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.ingest.run import ingest
from birthmark.exits import MISCONFIGURED
from birthmark.predictor import FILE_PREDICATES
from birthmark.predictor.models.kinds import BEST, KINDS
from birthmark.training.config import Settings
from birthmark.training.evaluate.windows import WINDOWS, windows


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory, traces: list[str]) -> list[Path]:
    """Return the datasets of three days."""
    folder = tmp_path_factory.mktemp("windows")
    for number, text in enumerate(traces):
        trace = folder / f"{number}.txt"
        trace.write_text(text)
        ingest([trace], folder / f"day{number}")
    return [folder / f"day{number}" for number in range(len(traces))]


def test_each_window_learns_from_the_last_days_before_the_test(days: list[Path]) -> None:
    lock = FILE_PREDICATES["lock"]
    table = windows(days[:2], days[2], Settings(), [lock], lengths=(1, 2))
    assert table.schema.equals(WINDOWS)
    assert table["window"].unique().to_pylist() == [1, 2]
    assert table["days"].unique().to_pylist() == [1, 2]
    assert pc.min(table["correct"]).as_py() >= 60
    assert set(table["n"].to_pylist()) == {60}


@pytest.mark.deep
def test_windows_longer_than_all_there_is_are_one(days: list[Path]) -> None:
    lock = FILE_PREDICATES["lock"]
    table = windows(days[:2], days[2], Settings(), [lock])
    assert table.group_by(["window", "days"], use_threads=False).aggregate([]).to_pylist() == [
        {"window": 1, "days": 1},
        {"window": 3, "days": 2},
    ]


def test_a_day_that_is_named_twice_or_tested_on_too_is_refused(days: list[Path]) -> None:
    for named, test in (([days[0], days[0]], days[1]), ([days[0], days[1]], days[1])):
        with pytest.raises(ValueError, match="is named before it: name it once"):
            windows(named, test, Settings())


def test_a_day_without_creations_is_no_test(days: list[Path], tmp_path: Path) -> None:
    trace = tmp_path / "quiet.txt"
    trace.write_text("1.0 31.03f7 30.0801 U C3 1 1 getattr fh 01 con = XXX len = XXX\n")
    ingest([trace], tmp_path / "quiet")
    with pytest.raises(ValueError, match="quiet: expected files with a visible creation"):
        windows(days[:1], tmp_path / "quiet", Settings())


@pytest.mark.deep
def test_the_command_prints_a_line_for_each_window_and_model(days: list[Path]) -> None:
    arguments = ["evaluate", "windows", *map(str, days[:2]), "--test", str(days[2]), "--days", "1"]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["Window", "Days", "Model", "Incorrect", "TruePos", "FalsePos", "Brier"] in lines
    assert [line[2] for line in lines if line[:2] == ["1", "1"]] == [*KINDS, BEST]


def test_the_command_takes_predicates_and_estimators_of_ones_own(
    days: list[Path], tmp_path: Path
) -> None:
    own, out = tmp_path / "own.toml", tmp_path / "windows.parquet"
    own.write_text(
        """
        [[predicates]]
        name = "rewritten"
        expression = "bytes_written > 2 * size"
        [[estimators]]
        kind = "shallow"
        class = "sklearn.tree:DecisionTreeClassifier"
        parameters = { max_depth = 2 }
        """
    )
    arguments = ["evaluate", "windows", str(days[0]), "--test", str(days[1]), "--days", "1"]
    arguments += ["--config", str(own), "--parquet", str(out)]
    result = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    assert "shallow" in result.stdout
    found = read_table(out)
    assert "rewritten" in found["predicate"].to_pylist()
    assert {*KINDS, BEST, "shallow"} == set(found["model"].to_pylist())
    own.write_text("[[predicates]]\nname = 'wrong'\nexpression = 'wirtes > 1'\n")
    refused = CliRunner().invoke(app, arguments)
    assert refused.exit_code == MISCONFIGURED
    assert "'wirtes' is no column" in refused.output
