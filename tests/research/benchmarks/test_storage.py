"""The benchmarks of the storage simulator, on little."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from benchmarks import (
    storage_drives,
    storage_readahead,
    storage_speed,
    storage_theory,
    storage_week,
)
from birthmark.layout_hint.disks import read_drive


def test_a_slower_drive_is_the_same_with_longer_times(tmp_path: Path) -> None:
    drive = read_drive(storage_week.DRIVE)
    for slower in (1.0, 3.0):
        path = tmp_path / "slower.toml"
        path.write_text(storage_week.slowed(slower))
        found = read_drive(path)
        assert found.rpm == pytest.approx(drive.rpm / slower)
        assert found.seek[5][1] == pytest.approx(drive.seek[5][1] * slower)
        overhead = drive.overheads_ms.read_miss_after_write
        assert found.overheads_ms.read_miss_after_write == pytest.approx(overhead * slower)
        same = {"name", "sectors", "heads", "cylinders", "buffer", "zones", "sparing"}
        assert found.model_dump(include=same) == drive.model_dump(include=same)


def test_a_trace_is_served_by_each_drive_under_each_issue_model(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    lines = [f"{0.1 * each},a,R,{8192 * each * each},8192,{0.1 * each + 0.03}" for each in range(9)]
    trace.write_text("\n".join(lines))
    rows = list(storage_week.measure(trace))
    assert len(rows) == len(storage_week.SLOWER) * len(storage_week.ISSUE)
    means = [row["mean_ms"] for row in rows if row["issue"] == "open"]
    assert means == sorted(means)
    assert means[-1] > 2 * means[0]


def test_theory_and_simulation_agree() -> None:
    for own in storage_theory.measure(100_000).values():
        assert own["found"] == pytest.approx(own["expected"], rel=0.1)


def test_drives_without_a_trace_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "barracuda.trace").write_text("R Hit 1975456 4 15362 56074\n")
    found = storage_drives.measure(tmp_path)
    assert list(found) == ["barracuda"]
    assert found["barracuda"]["requests"] == 1


def test_reports_the_speed_of_all_that_is_served(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["speed", "--requests", "2000", "--json"])
    storage_speed.main()
    result = json.loads(capsys.readouterr().out)
    assert len(result["requests_per_second"]) == 8
    assert min(result["requests_per_second"].values()) > 0


def test_a_long_window_loses_the_stream_of_a_server_that_keeps_the_order() -> None:
    found = storage_readahead.measure(1, 128 * storage_readahead.MB)
    records = "records of 128 KB"
    strict, patient = found[f"OpenZFS 2.2, {records}"], found[f"OpenZFS 2.4, {records}"]
    assert patient[128] < 0.85 * patient[1024], "a short window waits for the way"
    assert strict[2048] < 0.8 * strict[1024], "calls overtake, and nothing is read ahead"
    assert patient[2048] > 0.95 * patient[1024]
    assert strict[15360] > strict[2048], "the window itself keeps all disks busy"
    large = found["OpenZFS 2.2, records of 1 MB"]
    assert large[1024] > 1.1 * max(large[128], large[15360]), "it rises, and falls"
