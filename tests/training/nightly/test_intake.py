from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

import pytest

from birthmark.data.datasets.tables import read_files
from birthmark.data.ingest.decoded import decode
from birthmark.data.ingest.run import ingest
from birthmark.training.config import Server, Traces
from birthmark.training.nightly.intake import datasets, new_traces, take_in, waiting


def settings(tmp_path: Path, clean_up_interrupted: float = 0) -> Traces:
    return Traces(
        files=[str(tmp_path / "*.txt"), str(tmp_path / "m*")], settle_seconds=clean_up_interrupted
    )


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
    assert [entry.path for entry in found[""]] == [str(monday)]
    take_in(found, directory)
    assert new_traces(settings(tmp_path), directory) == {}


def test_traces_are_followed_in_the_order_of_their_time_whatever_they_are_called(
    tmp_path: Path, monday: Path, directory: Path, traces: list[str]
) -> None:
    (tmp_path / "later.txt").write_text(traces[1])
    (dataset,) = take_in(new_traces(settings(tmp_path), directory), directory)
    named = json.loads((dataset / "intake.json").read_bytes())["traces"]
    assert [Path(each["path"]).name for each in named] == ["monday.txt", "later.txt"]


def test_a_trace_that_has_changed_is_new(tmp_path: Path, monday: Path, directory: Path) -> None:
    take_in(new_traces(settings(tmp_path), directory), directory)
    os.utime(monday, ns=(0, 12345))
    assert len(new_traces(settings(tmp_path), directory)) == 1


def test_a_trace_that_may_still_be_growing_is_left_for_the_next_night(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    assert new_traces(settings(tmp_path, clean_up_interrupted=300), directory) == {}
    assert waiting(settings(tmp_path, clean_up_interrupted=300), directory) == [str(monday)]
    earlier = time.time() - 301
    os.utime(monday, (earlier, earlier))
    assert waiting(settings(tmp_path, clean_up_interrupted=300), directory) == []
    assert len(new_traces(settings(tmp_path, clean_up_interrupted=300), directory)) == 1


def test_a_directory_that_the_glob_matches_is_no_trace(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    (tmp_path / "more").mkdir()
    assert [e.path for e in new_traces(settings(tmp_path), directory)[""]] == [str(monday)]


def test_a_dataset_knows_its_traces_and_its_period(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    (path,) = take_in(new_traces(settings(tmp_path), directory), directory)
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
    assert new_traces(settings(tmp_path), directory) == {}


def test_a_dataset_may_be_deleted_and_its_traces_stay_known(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    shutil.rmtree(*take_in(new_traces(settings(tmp_path), directory), directory))
    assert new_traces(settings(tmp_path), directory) == {}


def test_half_a_dataset_is_none_and_is_cleared_away(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    (directory / ".incoming").mkdir()
    (directory / ".incoming" / "half").touch()
    assert datasets(directory) == []
    (path,) = take_in(new_traces(settings(tmp_path), directory), directory)
    assert not (path / "half").exists()
    assert len(datasets(directory)) == 1
    assert not (directory / ".incoming").exists()


def test_traces_of_several_servers_become_a_dataset_for_each_server_and_day(
    tmp_path: Path, directory: Path, traces: list[str]
) -> None:
    servers = []
    for number, name in enumerate(("home", "mail")):
        (tmp_path / name).mkdir()
        servers.append(Server(name=name, files=[str(tmp_path / name / "*")]))
        for day, trace in enumerate(traces[: number + 1]):
            half = trace.index("\n", len(trace) // 2) + 1
            (tmp_path / name / f"{day}a.txt").write_text(trace[:half])
            (tmp_path / name / f"{day}b.txt").write_text(trace[half:])
    found = new_traces(Traces(settle_seconds=0), directory, servers)
    assert {name: len(entries) for name, entries in found.items()} == {"home": 2, "mail": 4}
    paths = take_in(found, directory)
    assert [path.name[:-7] for path in paths] == [
        "20011022T000000Z-home",
        "20011022T000000Z-mail",
        "20011023T000000Z-mail",
    ]
    whole = tmp_path / "whole"
    ingest([tmp_path / "mail" / name for name in ("1a.txt", "1b.txt")], whole)
    assert read_files(paths[2]) == read_files(whole)
    assert new_traces(Traces(settle_seconds=0), directory, servers) == {}


def test_traces_decoded_by_a_killed_run_are_not_decoded_again(
    tmp_path: Path, monday: Path, directory: Path
) -> None:
    found = new_traces(settings(tmp_path), directory)
    decode(monday, directory / ".incoming" / found[""][0].fingerprint)
    monday.unlink()
    assert len(read_files(*take_in(found, directory))) > 0
