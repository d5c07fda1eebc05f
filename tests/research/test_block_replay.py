"""Traces of block devices, replayed as a user does it."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from birthmark.layout_hint.disks import drive_path
from birthmark.research.block_replay import replay
from birthmark.research.settings import ReplayOptions
from birthmark.research.validate import validate

TRACE = """\
time,stream,rw,byte,length,completion
0.000,a,R,1011429376,2048,0.015
0.001,b,W,1383856128,4096,0.003
0.050,a,R,1011431424,2048,0.051
"""


def asked(**options: Any) -> ReplayOptions:
    return ReplayOptions(**{"drive": "barracuda"} | options)


def command(*arguments: str | Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "birthmark", "research", "block-replay", *map(str, arguments)]
    return subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "requests.csv"
    path.write_text(TRACE)
    return path


def test_the_figures_add_up(trace: Path) -> None:
    for issue in ("open", "dependent", "population"):
        for order in ("fcfs", "elevator", "ncscan", "aged"):
            found = replay(trace, asked(issue=issue, order=order))
            assert found["requests"] == 3
            assert (found["reads"]["requests"], found["writes"]["requests"]) == (2, 1)
            assert sum(found["parts_ms"].values()) == pytest.approx(found["mean_ms"])
            assert found["traced"]["mean_ms"] == pytest.approx((15 + 2 + 1) / 3)


def test_options_do_what_they_say(trace: Path) -> None:
    usual = replay(trace, asked())
    assert replay(trace, asked(faster=10))["seconds"] < usual["seconds"] / 3
    population = asked(issue="population", clients=3)
    assert replay(trace, population)["queue_most"] == 2
    thinking = asked(issue="population", think_ms=100)
    assert replay(trace, thinking)["seconds"] > 0.2
    with pytest.raises(ValueError, match=r"request 1: \d+ sectors from 126428672 on: expected"):
        replay(trace, asked(sector_bytes=8))
    assert replay(trace, asked(sector_bytes=8, wrap=True))["requests"] == 3
    with pytest.raises(ValueError, match="line 1: expected five numbers"):
        replay(trace, asked(format="disksim"))


def test_a_measured_trace_is_replayed_as_it_is_validated(tmp_path: Path) -> None:
    trace = tmp_path / "requests.trace.xz"
    lines = [f"R Hit {700 * number} {1 + number % 9} 9000 {number * 10}" for number in range(300)]
    trace.write_bytes(lzma.compress("\n".join(lines).encode()))
    found = replay(trace, asked(issue="dependent", order="fcfs"))
    assert found["mean_ms"] == pytest.approx(validate(trace, "barracuda")["mean_ms"])


def test_the_command_prints_tables_and_objects(trace: Path) -> None:
    run = command(trace, "--drive", "barracuda")
    assert (run.returncode, run.stderr) == (0, "")
    rows = [line.replace("│", " ").split() for line in run.stdout.splitlines()]
    assert ["traced", "3", "6.000"] in [row[:3] for row in rows]
    assert "at most 1 waited" in run.stdout
    run = command("-", "--drive", "barracuda", "--json", stdin=TRACE)
    assert json.loads(run.stdout) == replay(trace, asked())


def test_reports_an_impossible_replay_in_one_line(trace: Path) -> None:
    trace.write_text(TRACE.replace("R,1011431424", "R,9111431424"))
    run = command(trace, "--drive", "barracuda")
    (line,) = run.stderr.splitlines()
    assert run.returncode == 1
    assert line.startswith(f"birthmark: {trace}: request 3: 5 sectors from 17795764 on: expected")
    assert line.endswith("(--wrap)")
    assert command(trace, "--drive", "barracuda", "--faster", "0").returncode == 2


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"clients": 2}, "clients: expected issue to be population; found open"),
        ({"issue": "dependent", "think_ms": 1}, "think_ms: expected issue to be population"),
        ({"issue": "population", "faster": 2}, "faster: expected issue to be open or dependent"),
    ],
)
def test_refuses_options_that_an_issue_model_ignores(
    options: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ValueError, match=expected):
        asked(**options)


def test_reports_requests_out_of_order(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    trace.write_text("1,a,R,0,512\n5,a,R,0,512\n4,a,R,8192,512\n")
    assert replay(trace, asked())["out_of_order"] == 1
    assert "1 came after later ones" in command(trace, "--drive", "barracuda").stdout


def test_reports_assumed_parameters_of_a_drive(trace: Path, tmp_path: Path) -> None:
    drive = tmp_path / "mine.toml"
    text = drive_path("barracuda").read_text()
    drive.write_text(text.replace("sectors =", 'assumed = "its rpm"\nsectors =', 1))
    assert replay(trace, asked(drive=str(drive)))["assumed"] == "its rpm"
    assert "Assumed of the drive: its rpm" in command(trace, "--drive", drive).stdout
