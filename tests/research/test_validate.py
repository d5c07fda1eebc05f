"""Simulated drives beside those that were measured, as a user compares them.

Tests also research/commands/research.py, research/commands/tables.py, research/settings.py.
"""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark.layout_hint.disks import DRIVES, drive_path
from birthmark.layout_hint.disks.read import MEASURED as MEASURED_DRIVES
from birthmark.research.validate import validate

MEASURED = {"cheetah9LP": 4.273, "atlas10k": 3.893, "barracuda": 6.627, "ibm18es": 5.261}
"""The mean of each trace of DiskSim's validation suite, in milliseconds."""

TRACE = """\
R Hit  1975456   4  15362.00000  56074.00000
R Hit  1975460   4    874.00000  27896.00000
W Hit  2702844   8   1971.00000  45192.00000
"""


def command(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    words = [sys.executable, "-m", "birthmark", "research", "validate", *map(str, arguments)]
    return subprocess.run(words, input=stdin, capture_output=True, check=False)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "requests.trace"
    path.write_text(TRACE)
    return path


def refusal(trace: Path, drive: str) -> str:
    """Return the one line that refuses a trace or a drive."""
    run = command(trace, "--drive", drive)
    assert (run.returncode, run.stdout) == (1, b"")
    (line,) = run.stderr.decode().splitlines()
    return line


@pytest.mark.parametrize("drive", MEASURED)
def test_a_drive_comes_near_to_the_one_that_was_measured(shared: Path, drive: str) -> None:
    measured = shared / "reference/disksim" / f"{drive}.trace.xz"
    if not measured.exists():
        pytest.skip(f"needs {measured.name}, which is not in {measured.parent}")
    found = validate(measured, drive)
    assert found["requests"] == 10_000
    assert found["measured_mean_ms"] == pytest.approx(MEASURED[drive], abs=5e-4)
    bound = 0.06 if drive == "barracuda" else 0.03
    assert found["demerit_ms"] <= bound * found["measured_mean_ms"]
    assert found["mean_ms"] == pytest.approx(MEASURED[drive], rel=0.04)


def test_all_measured_drives_serve_a_trace(trace: Path) -> None:
    for drive in MEASURED_DRIVES:
        found = validate(trace, drive)
        assert found["requests"] == found["reads"]["requests"] + found["writes"]["requests"] == 3
        # a miss moves the arm; what is read on behind it and what is written does not
        assert found["reads"]["parts_ms"]["seek"] > 0
        assert found["writes"]["parts_ms"]["seek"] == 0


def test_the_figures_are_those_of_the_trace_and_their_parts_add_up(trace: Path) -> None:
    found = validate(trace, "barracuda")
    assert found["measured_mean_ms"] == pytest.approx((15.362 + 0.874 + 1.971) / 3)
    for figures in (found, found["reads"], found["writes"]):
        assert sum(figures["parts_ms"].values()) == pytest.approx(figures["mean_ms"])
    # the overhead of a read that hits, and of a write, each with its sectors on the bus
    assert found["writes"]["mean_ms"] == pytest.approx(1.010 + 8 * 0.134)


def test_a_compressed_trace_is_the_same_trace(trace: Path, tmp_path: Path) -> None:
    text = TRACE.encode()
    zstd = pa.compress(text, codec="zstd", asbytes=True)
    packed = {
        "xz": lzma.compress(text),
        "gz": gzip.compress(text),
        "bz2": bz2.compress(text),
        "zst": zstd,
    }
    expected = validate(trace, "ibm18es")
    for name, contents in packed.items():
        path = tmp_path / f"requests.{name}"
        path.write_bytes(contents)
        assert validate(path, "ibm18es") == expected


def test_the_command_prints_one_object_as_json(trace: Path) -> None:
    run = command(trace, "--drive", "cheetah9LP", "--json")
    assert (run.returncode, run.stderr) == (0, b"")
    found: dict[str, Any] = json.loads(run.stdout)
    assert found == validate(trace, "cheetah9LP")
    assert found.keys() >= {"requests", "mean_ms", "measured_mean_ms", "demerit_ms"}


def test_the_command_prints_tables_and_reads_standard_input() -> None:
    run = command("-", "--drive", "barracuda", stdin=TRACE.splitlines()[2].encode())
    assert (run.returncode, run.stderr) == (0, b"")
    rows = [line.replace("│", " ").split() for line in run.stdout.decode().splitlines()]
    # A write alone: 1.010 ms overhead and 8 sectors of 0.134 ms; measured 1.971 ms.
    assert ["all", "1", "2.082", "1.971", "0.111", "5.6", "%"] in rows
    assert ["writes", "0.000", "1.010", "0.000", "0.000", "0.000", "1.072"] in rows
    assert not any(row[:1] == ["reads"] for row in rows)


@pytest.mark.parametrize(
    ("line", "result"),
    [
        (
            "R Hit 1 2 3",
            "line 4: expected R or W, Hit or Miss, first sector, sectors, response and",
        ),
        ("", "line 4: expected R or W, Hit or Miss"),
        ("R Hit 4110000 1 2 3", "request 4: 1 sectors from 4110000 on: expected 1 to 1048576, all"),
        ("R Hit 1 0 2 3", "request 4: 0 sectors from 1 on: expected 1 to 1048576, all below"),
    ],
)
def test_a_line_that_is_no_request_is_refused_with_its_file_and_number(
    trace: Path, line: str, result: str
) -> None:
    trace.write_text(f"{TRACE}{line}\n")
    assert refusal(trace, "barracuda").startswith(f"birthmark: {trace}: {result}")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert refusal(nowhere, "barracuda") == f"birthmark: {nowhere}: {os.strerror(2)}"
    assert "is a directory" in refusal(tmp_path, "barracuda")
    damaged = tmp_path / "damaged.xz"
    damaged.write_bytes(lzma.compress(TRACE.encode())[:40])
    assert refusal(damaged, "barracuda").startswith(f"birthmark: {damaged}: ")


def test_a_drive_that_there_is_not_is_refused_with_those_that_there_are(trace: Path) -> None:
    expected = f"expected {', '.join(DRIVES)} or a file that ends in .toml"
    assert refusal(trace, "cheetah") == f"birthmark: drive 'cheetah': {expected}"


def test_a_drive_must_be_named(trace: Path) -> None:
    run = command(trace)
    assert run.returncode == 2
    assert b"Missing option '--drive'" in run.stderr


def test_reports_assumed_parameters_of_a_drive(trace: Path, tmp_path: Path) -> None:
    drive = tmp_path / "mine.toml"
    text = (
        drive_path("barracuda")
        .read_text()
        .replace("sectors =", 'assumed = "its rpm"\nsectors =', 1)
    )
    drive.write_text(text)
    assert validate(trace, drive)["assumed"] == "its rpm"
    assert b"Assumed of the drive: its rpm" in command(trace, "--drive", drive).stdout
    assert "assumed" not in validate(trace, "barracuda")


WRITE_CACHE = """
[write_cache]
sectors = 64
runs = 16
high_sectors = 48
low_sectors = 16
idle_ms = 10.0
order = "nearest"
"""


def test_a_drive_of_ones_own_may_have_a_write_cache(trace: Path, tmp_path: Path) -> None:
    slow = drive_path("wd1200bb").read_text().partition("\n[[zones]]")
    without, drive = tmp_path / "slow.toml", tmp_path / "mine.toml"
    without.write_text("".join(slow))
    drive.write_text(slow[0] + WRITE_CACHE + slow[1] + slow[2])
    written = validate(trace, without)["writes"]["mean_ms"]
    assert validate(trace, drive)["writes"]["mean_ms"] < written / 5
    drive.write_text(drive.read_text().replace("low_sectors = 16", "low_sectors = 49"))
    line = refusal(trace, str(drive))
    assert f"{drive}: write_cache.low_sectors: expected no more than high_sectors" in line
