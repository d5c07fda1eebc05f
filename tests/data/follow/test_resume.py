"""A killed follower continues where it was, or reports what it missed."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

from birthmark.data.datasets.tables import read_table
from birthmark.data.follow import state
from birthmark.data.follow.run import Follower, follow
from birthmark.data.settings import Following
from tests.builders.followed import Rows, hours, rows, split

SETTINGS = Following(hour_seconds=30, until_idle=0.01, warm_seconds=900)


class KilledError(Exception):
    """Ends a follower by an unexpected error."""


def killer(operations: int) -> Callable[[pa.RecordBatch], None]:
    """Return a function that ends a follower after it has handed on so many operations."""
    seen = 0

    def hear(batch: pa.RecordBatch) -> None:
        nonlocal seen
        seen += len(batch)
        if seen >= operations:
            raise KilledError

    return hear


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    """Return a folder of consecutive captures."""
    split(whole / "whole.pcap", tmp_path / "captures", [101] * 30)
    return tmp_path / "captures"


def operations(out: Path) -> int:
    return sum(len(read_table(path, "operations", ["xid"])) for path in hours(out))


def test_a_follower_that_was_killed_goes_on_where_it_was(
    expected: Rows, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    chance, before = random.Random(3), [0]
    for _ in range(6):
        with pytest.raises(KilledError):
            follow(folder, out, SETTINGS, killer(chance.randrange(200, 400)))
        before.append(operations(out))
    assert len(set(before)) > 3
    assert before == sorted(before)
    follow(folder, out, SETTINGS)
    assert rows(*hours(out)) == expected


def test_a_follower_that_was_stopped_goes_on_where_it_was(
    expected: Rows, folder: Path, tmp_path: Path
) -> None:
    out, stops = tmp_path / "out", 0
    for most in (200, 900, 10_000):
        with Follower(folder, out, SETTINGS) as follower:
            while follower.go_on():
                if follower.status.operations >= most:
                    follower.stop()
        stops += follower.status.operations < 1500
    assert stops > 1
    assert rows(*hours(out)) == expected


def test_a_follower_that_is_stopped_after_the_source_has_ended_has_ended_with_it(
    whole: Path, expected: Rows, tmp_path: Path
) -> None:
    out, day = tmp_path / "out", Following(hour_seconds=86_400, until_idle=0.01)
    with Follower(whole / "whole.pcap", out, day) as follower:
        while follower.go_on() and not follower.status.operations:
            pass
        time.sleep(1)  # all is decoded now, and waits with the end
        follower.stop()
        while follower.go_on():
            pass
    follow(whole / "whole.pcap", out, day)
    assert rows(*hours(out)) == expected


def test_what_comes_after_an_end_is_followed_and_nothing_is_counted_twice(
    whole: Path, expected: Rows, tmp_path: Path
) -> None:
    out, captures = tmp_path / "out", tmp_path / "captures"
    pieces = split(whole / "whole.pcap", tmp_path / "pieces", [101] * 30)
    captures.mkdir()
    for some in (pieces[:12], pieces[12:20], pieces[20:]):
        for piece in some:
            (captures / piece.name).write_bytes(piece.read_bytes())
        follow(captures, out, SETTINGS)
    assert operations(out) == sum(expected["operations"].values())
    calls = (read_table(path, "loss")["calls"].to_pylist() for path in hours(out))
    assert sum(map(sum, calls)) == operations(out)


def test_input_that_cannot_be_read_again_is_reported(
    expected: Rows, folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    with pytest.raises(KilledError):
        follow(folder, out, SETTINGS, killer(600))
    saved = state.newest(out)
    assert saved is not None
    lost = [path for path in folder.iterdir() if path.name >= saved.place[0]]
    for path in lost:
        path.unlink()
    status = follow(folder, out, SETTINGS)
    loss = [row for path in hours(out) for row in read_table(path, "loss").to_pylist()]
    (unwatched_row,) = [row for row in loss if row["unwatched"]]
    assert (unwatched_row["server"], unwatched_row["client"]) == ("*", "*")
    tables = [read_table(path, "operations", ["time"]) for path in hours(out)]
    times = [time.value for table in tables for time in table["time"]]
    began = min(time for time in times if time > saved.clock)
    assert unwatched_row["unwatched"] == pytest.approx(began - saved.clock, abs=1_000_000)
    assert status.unwatched == unwatched_row["unwatched"]
    assert rows(*hours(out))["operations"] < expected["operations"]


def test_input_of_a_pipe_during_a_restart_is_reported_as_missed(
    whole: Path, tmp_path: Path
) -> None:
    first, *_, last = split(whole / "whole.pcap", tmp_path / "pieces", [1000, 500])
    out = tmp_path / "out"
    for piece in (first, last):
        read, write = os.pipe()
        os.write(write, b"")
        feeder = threading.Thread(target=feed, args=(write, piece.read_bytes()))
        feeder.start()
        follow(f"/dev/fd/{read}", out, SETTINGS)
        feeder.join()
        os.close(read)
    loss = [row for path in hours(out) for row in read_table(path, "loss").to_pylist()]
    assert sum(bool(row["unwatched"]) for row in loss) == 1


def feed(pipe: int, content: bytes) -> None:
    with os.fdopen(pipe, "wb") as file:
        file.write(content)


def test_lives_go_on_through_a_kill(
    whole: Path, expected: Rows, folder: Path, tmp_path: Path
) -> None:
    """A life that began before the kill and ended after it has one complete row."""
    out = tmp_path / "out"
    with pytest.raises(KilledError):
        follow(folder, out, SETTINGS, killer(800))
    saved = state.newest(out)
    assert saved is not None
    state.lives(out, saved).write_bytes(b"damaged")
    follow(folder, out, SETTINGS)
    without = rows(*hours(out))
    assert without["operations"] == expected["operations"]
    assert without["files"] != expected["files"]


def test_a_damaged_place_is_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    follow(folder, out, SETTINGS)
    (place,) = out.glob(".state/*/place.json")
    place.write_text("{}")
    with pytest.raises(ValueError, match=r"place\.json: expected the state of a follower"):
        follow(folder, out, SETTINGS)


@pytest.mark.deep
def test_a_follower_killed_at_twenty_instants_loses_nothing(
    whole: Path, expected: Rows, tmp_path: Path
) -> None:
    pieces = split(whole / "whole.pcap", tmp_path / "pieces", [97] * 31)
    folder, out = tmp_path / "captures", tmp_path / "out"
    folder.mkdir()
    chance, ended = random.Random(11), 0
    command = [sys.executable, "-m", "birthmark", "follow", str(folder), str(out)]
    command += ["--hour-seconds", "20", "--until-idle", "60"]
    for number in range(20):
        for piece in pieces[number * 3 // 2 : (number + 1) * 3 // 2]:
            (folder / piece.name).write_bytes(piece.read_bytes())
        process = subprocess.Popen(command)
        try:
            process.wait(chance.uniform(0.2, 5))
            ended += 1
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert not ended
    for piece in pieces:
        (folder / piece.name).write_bytes(piece.read_bytes())
    assert hours(out), "it was killed before it had done anything"
    follow(folder, out, Following(hour_seconds=20, until_idle=0.01))
    assert rows(*hours(out)) == expected
