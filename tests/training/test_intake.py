from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from training.config import Traces
from training.intake import datasets, new_traces, take_in


def settings(tmp_path: Path, settle: float = 0) -> Traces:
    return Traces(files=[str(tmp_path / "*.txt"), str(tmp_path / "m*")], settle_seconds=settle)


@pytest.fixture
def monday(tmp_path: Path, traces: list[str]) -> Path:
    path = tmp_path / "monday.txt"
    path.write_text(traces[0])
    return path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    path = tmp_path / "datasets"
    path.mkdir()
    return path


def test_a_trace_is_taken_in_once(tmp_path: Path, monday: Path, directory: Path) -> None:
    found = new_traces(settings(tmp_path), directory)
    assert [entry["path"] for entry in found] == [str(monday)]
    take_in(found, directory)
    assert new_traces(settings(tmp_path), directory) == []


def test_a_trace_that_has_changed_is_new(tmp_path: Path, monday: Path, directory: Path) -> None:
    take_in(new_traces(settings(tmp_path), directory), directory)
    os.utime(monday, ns=(0, 12345))
    assert len(new_traces(settings(tmp_path), directory)) == 1


def test_a_trace_that_may_still_be_growing_is_left_for_the_next_night(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    assert new_traces(settings(tmp_path, settle=300), directory) == []
    earlier = time.time() - 301
    os.utime(monday, (earlier, earlier))
    assert len(new_traces(settings(tmp_path, settle=300), directory)) == 1


def test_a_directory_that_the_glob_matches_is_no_trace(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    (tmp_path / "more").mkdir()
    assert [e["path"] for e in new_traces(settings(tmp_path), directory)] == [str(monday)]


def test_a_dataset_knows_its_traces_and_its_period(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    path = take_in(new_traces(settings(tmp_path), directory), directory)
    assert path.name.startswith("20011022T000000Z-")
    (dataset,) = datasets(directory)
    assert dataset.path == path
    assert dataset.since.isoformat().startswith("2001-10-22T00:00:00")
    assert dataset.until.isoformat().startswith("2001-10-22T00:")
    intake = json.loads((path / "intake.json").read_text())
    assert [entry["path"] for entry in intake["traces"]] == [str(monday)]


def test_a_crash_before_the_ledger_is_written_takes_nothing_in_twice(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    take_in(new_traces(settings(tmp_path), directory), directory)
    (directory / "ledger.json").unlink()
    assert new_traces(settings(tmp_path), directory) == []


def test_a_dataset_may_be_deleted_and_its_traces_stay_known(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    shutil.rmtree(take_in(new_traces(settings(tmp_path), directory), directory))
    assert new_traces(settings(tmp_path), directory) == []


def test_half_a_dataset_is_none_and_is_cleared_away(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    (directory / ".incoming").mkdir()
    (directory / ".incoming" / "half").touch()
    assert datasets(directory) == []
    path = take_in(new_traces(settings(tmp_path), directory), directory)
    assert not (path / "half").exists()
    assert len(datasets(directory)) == 1
