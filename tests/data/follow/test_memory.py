"""The follower stays within its budget, whatever the traffic, and reports evictions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.hostile import KINDS, write
from birthmark_native import Follower, LivesBuilder

MEGABYTE = 1 << 20
BASE = 600
"""The program's memory besides its budget, with a live history and without a model, in MB."""
LAUNCHER = """
import os, subprocess, sys
child = subprocess.Popen(sys.argv[2:])
_, code, usage = os.wait4(child.pid, 0)
open(sys.argv[1], "w").write(str(usage.ru_maxrss))
sys.exit(os.waitstatus_to_exitcode(code))
"""
"""Starts a program, and writes its peak memory in KB to a file.

Linux counts the memory of a parent at its fork as the child's, so that the parent has to be small.
"""
GROWING = {
    "births": BASE,
    "calls": BASE,
    "clients": BASE,
    "removes": BASE,
    "links": BASE,
    "listings": BASE,
    "requests": BASE,
    "servers": 700,
    "symlinks": BASE,
}
"""Kinds of traffic, with the memory besides the budget."""


def followed(kind: str, count: int, memory: int, folder: Path) -> dict[str, Any]:
    """Follow a capture in another process; return its status, and its memory, in MB."""
    capture, status, peak = folder / "capture", folder / "status", folder / "peak"
    write(KINDS[kind](count), capture)
    launched = [sys.executable, "-c", LAUNCHER, str(peak)]
    command = [sys.executable, "-m", "birthmark", "follow", "-", str(folder / "out"), "--json"]
    options = ["--memory", str(memory), "--history", str(folder / "history")]
    with capture.open("rb") as source, status.open("wb") as report:
        poured = subprocess.Popen(["cat"], stdin=source, stdout=subprocess.PIPE)
        follower = subprocess.Popen(
            [*launched, *command, *options], stdin=poured.stdout, stdout=report
        )
        assert poured.stdout is not None
        poured.stdout.close()
        assert follower.wait() == 0
        assert poured.wait() == 0
    capture.unlink()
    own: dict[str, Any] = json.loads(status.read_text())
    return own | {"peak": int(peak.read_text()) / 1024}


@pytest.mark.deep
def test_four_hundred_thousand_births_of_the_longest_names_and_handles_fit_the_budget(
    tmp_path: Path,
) -> None:
    status = followed("births", 400_000, 200, tmp_path)
    assert status["peak"] < 200 + BASE
    assert status["operations"] == 3 * 400_000
    assert status["set_aside"] == {}


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "base"), GROWING.items())
def test_no_kind_of_traffic_takes_more_than_the_budget(
    kind: str, base: int, tmp_path: Path
) -> None:
    status = followed(kind, 100_000, 100, tmp_path)
    assert status["peak"] < 100 + base


def pieces(kind: str, count: int, memory: int, folder: Path) -> dict[str, Any]:
    """Return the counts of traffic that is followed within a budget, in bytes."""
    capture, counts = folder / "capture", {}
    write(KINDS[kind](count), capture)
    native = Follower(str(capture), 3_600_000_000, until_idle=0.01, memory=memory)
    while True:
        piece = native.next_piece(1)
        if piece is not None:
            counts = piece.counts() or counts
            if piece.ended:
                return counts


def test_calls_without_replies_are_given_up_when_they_take_too_much(tmp_path: Path) -> None:
    counts = pieces("calls", 2000, 8 * MEGABYTE, tmp_path)
    assert counts["evicted"]["calls"] > 0
    assert counts["procedures"]["compound"]["unanswered"] == 2000


def test_with_the_default_budget_nothing_is_given_up(tmp_path: Path) -> None:
    counts = pieces("births", 500, 800 * MEGABYTE, tmp_path)
    assert counts["evicted"] == {}
    assert counts["compound_operations"]["open"]["replies"] == 500


def test_programs_of_calls_are_counted_together_where_they_are_too_many(tmp_path: Path) -> None:
    counts = pieces("programs", 1000, 800 * MEGABYTE, tmp_path)
    others = counts["other_programs"]
    assert len(others) == 257
    assert sum(calls for calls, _ in others.values()) == 1000


def lives(kind: str, count: int, memory: int, folder: Path) -> tuple[LivesBuilder, int]:
    """Return lives within a budget, and the number of names that they gave."""
    capture = folder / "capture"
    write(KINDS[kind](count), capture)
    native = Follower(str(capture), 3_600_000_000, until_idle=0.01)
    built, names = LivesBuilder(memory=memory), 0
    while True:
        piece = native.next_piece(1)
        for batch in piece.chunk.operations if piece else ():
            built.update(batch)
            built.take_files()
            names += len(built.take_names())
        if piece is not None and piece.ended:
            break
    built.finish()
    while (files := built.take_files()) or (more := built.take_names()):
        names += len(more) if not files else 0
    return built, names


def test_a_file_with_too_many_names_loses_its_oldest(tmp_path: Path) -> None:
    built, names = lives("links", 1500, 800 * MEGABYTE, tmp_path)
    assert built.evicted()["names"] == 1500 - 1024
    assert names == 1500


def test_lives_that_ended_wait_for_losses_no_longer_than_there_is_memory(tmp_path: Path) -> None:
    built, names = lives("removes", 2000, MEGABYTE, tmp_path)
    assert built.evicted()["ended"] > 0
    assert names == 1000


def test_a_snapshot_is_loaded_within_the_budget_that_is_given(tmp_path: Path) -> None:
    built, _ = LivesBuilder(), write(KINDS["removes"](2000), tmp_path / "capture")
    native = Follower(str(tmp_path / "capture"), 3_600_000_000, until_idle=0.01)
    while (piece := native.next_piece(1)) is None or not piece.ended:
        for batch in piece.chunk.operations if piece else ():
            built.update(batch)
    built.save(tmp_path / "snapshot")
    assert len(built.take_names()) == 0
    loaded = LivesBuilder.load(tmp_path / "snapshot", MEGABYTE)
    assert len(loaded.take_names()) > 0
    assert loaded.evicted()["ended"] > 0
