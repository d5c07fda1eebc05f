"""What ``benchmarks.live`` asks, when it asks, and what it makes of the answers."""

from __future__ import annotations

import base64
import gzip
import io
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from benchmarks.live import arguments, figures
from benchmarks.live_days import Day, expect_capture, read_day
from benchmarks.live_played import Player, stretches
from benchmarks.live_questions import LEVELS, Questions, created, known_at, questions
from benchmarks.live_report import summary
from benchmarks.packets import Packets
from birthmark.data.samples import DAYS, cut
from birthmark.data.schema import TIME
from birthmark.data.traces.captures import write_capture
from birthmark.data.traces.reader import open_trace
from birthmark.features import HISTORY_BYTES, from_requests
from birthmark.predictor.trained import TrainedModel
from tests.builders.followed import packets as packets_of
from tests.builders.lives import MONDAY, day_of_lives, files_of, life, names_of
from tests.builders.traces import trace_of

ROOT = Path(__file__).resolve().parents[2]
CALL = timedelta(milliseconds=3)
"""How long before a birth its call was, in these tests."""


def operations_of(*rows: dict[str, Any]) -> pa.Table:
    """Return the calls that made such lives."""
    return pa.table(
        {
            "time": pa.array([row["born"] - CALL for row in rows], TIME),
            "reply_time": pa.array([row["born"] for row in rows], TIME),
            "server": ["home"] * len(rows),
            "client": [row["client"] for row in rows],
            "op": ["create"] * len(rows),
            "status": pa.array([0] * len(rows), pa.uint32()),
            "name": [row["name"] for row in rows],
        }
    )


def asked_about(*rows: dict[str, Any]) -> Questions:
    births = {"file": files_of(*rows), "name": names_of(*rows)}
    return questions(operations_of(*rows), births)


@pytest.fixture(scope="module")
def model() -> TrainedModel:
    """Return a model of a day, without the kinds that take long."""
    rows = day_of_lives(MONDAY, 20)
    return TrainedModel(calibration=0).train(files_of(*rows), names_of(*rows), kinds=["name"])


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory, model: TrainedModel) -> Day:
    """Return the captured traffic of ten seconds with 30 files, read as one that is played."""
    folder = tmp_path_factory.mktemp("day")
    later = MONDAY + timedelta(days=1)
    rows = [life(b"inbox.lock", 0.3 * n, 0.05, day=later, max_size=n % 2) for n in range(30)]
    (folder / "trace.txt").write_text(trace_of(rows))
    write_capture(open_trace(folder / "trace.txt"), folder / "day.pcap")
    return read_day(folder / "day.pcap", folder / "scratch", model)


def test_a_file_and_its_name_are_one_question_at_the_time_of_their_call() -> None:
    late, early = (life(b"a.lock", born, client="10.0.0.7", mode=0o600) for born in (5.0, 1.0))
    found = asked_about(late, early)
    assert len(found) == 2
    assert {subject: rows.tolist() for subject, rows in found.rows.items()} == {
        "file": [1, 0],
        "name": [1, 0],
    }
    calls = [row["born"] - CALL for row in (early, late)]
    assert found.times.tolist() == [round(call.timestamp() * 1e6) for call in calls]
    assert json.loads(found.full[0]) == {
        "name": "a.lock",
        "directory_handle": base64.b64encode(b"directory").decode(),
        **{"mode": 0o600, "uid": 1, "gid": 1, "client": "10.0.0.7"},
        "time": calls[0].isoformat(),
    }


def test_requests_without_directory_history_omit_the_directory() -> None:
    found = asked_about(life(b"a", client="7", mode=None))
    result, bare = json.loads(found.full[0]), json.loads(found.bare[0])
    assert set(result) - set(bare) == {"directory_handle"}
    assert "mode" not in result
    bodies = [found.bodies(level) for level in LEVELS]
    assert bodies == [found.full, found.bare, found.bare]


def test_a_name_that_is_no_text_is_asked_about_in_base64() -> None:
    (result,) = map(json.loads, asked_about(life(b"caf\xe9", client="7")).full)
    assert "name" not in result
    assert base64.b64decode(result["name_base64"]) == b"caf\xe9"


def test_a_birth_without_a_call_is_refused() -> None:
    row, other = life(b"a", client="7"), life(b"b", client="7")
    births = {"file": files_of(row)}
    with pytest.raises(ValueError, match="expected a call for each birth"):
        questions(operations_of(other), births)


def test_names_that_links_and_renames_make_are_no_creates() -> None:
    made = [life(b"a", how_born=how) for how in ("create", "link", "rename", "mknod")]
    assert created(names_of(*made)).to_pylist() == [True, False, False, True]


def test_less_is_known_of_a_create_than_evaluate_knows() -> None:
    (create,) = [
        from_requests(
            [
                {
                    **{"name": b"a", "dir_fh": b"d", "dir_name": b"mail", "uid": 1, "gid": 2},
                    **{"mode": 0o600, "client": "7", "history": bytes([9]) * HISTORY_BYTES},
                }
            ]
        )
    ]
    assert known_at(create, "full") == create
    (less,) = known_at(create, "no_directory").to_pylist()
    (none,) = known_at(create, "bare").to_pylist()
    for row in (less, none):
        known = ("name", "mode", "uid", "gid", "client", "dir_fh", "dir_name")
        assert [row[name] for name in known] == [b"a", 0o600, 1, 2, "7", None, None]
    assert 0 < less["history"].count(9) < HISTORY_BYTES
    assert none["history"] is None


def test_calls_are_asked_about_together_for_as_long_as_a_follower_is_behind() -> None:
    times = np.array([0, 5, 99, 100, 300, 301])
    assert list(stretches(times, 100)) == [(0, 3), (3, 4), (4, 6)]
    assert list(stretches(times[:2], 0)) == [(0, 1), (1, 2)]


TOGETHER = 1_000_000


class Behind:
    """A follower that has processed all awaited input, and the length of its pipe then."""

    def __init__(self, pipe: io.BytesIO) -> None:
        self.pipe, self.known = pipe, 0

    def clock(self) -> int:
        return self.known

    def wait_until(self, time_of: int) -> None:
        self.known = time_of


def play(day: Day, speed: float | None) -> tuple[list[tuple[int, int, int, int]], bytes, Player]:
    """Play a day; return which questions were asked after how many bytes, at what time known."""
    pipe, asked = io.BytesIO(), []
    follower = Behind(pipe)
    player = Player(day.packets, day.replies, pipe, follower)

    def ask(first: int, last: int) -> None:
        asked.append((first, last, pipe.tell(), follower.known))

    if speed is None:
        player.at_once(day.questions, ask, TOGETHER)
    else:
        player.paced(day.questions, ask, speed)
    return asked, pipe.getvalue(), player


def written_before(day: Day, moment: int) -> int:
    """Return the bytes of packets before a time."""
    _, frames = packets_of(Path(str(day.packets.content.filename)))
    times = day.packets.times.tolist()
    return sum(len(frame) for frame, at in zip(frames, times, strict=True) if at < moment)


@pytest.mark.parametrize("speed", [None, 50.0])
def test_a_create_is_asked_about_before_the_follower_is_given_its_call(
    day: Day, speed: float | None
) -> None:
    asked, written, _ = play(day, speed)
    assert len(day.questions) == 30
    for first, _, position, _ in asked:
        assert position == written_before(day, int(day.questions.times[first]))
    assert day.packets.header + written == Path(str(day.packets.content.filename)).read_bytes()
    assert [number for first, last, _, _ in asked for number in range(first, last)] == [*range(30)]


def test_in_step_with_the_clock_each_create_is_a_question_of_its_own(day: Day) -> None:
    asked, _, player = play(day, 50.0)
    assert [(first, last) for first, last, _, _ in asked] == [(n, n + 1) for n in range(30)]
    assert len(player.delays.client) == len(player.delays.follower) == 30
    assert min(player.delays.client) >= 0
    # this follower never knew anything: it was behind since the first reply was written
    assert player.delays.follower[0] == 0
    assert player.delays.follower[-1] > player.delays.follower[1] > 0


def test_at_once_the_follower_knows_all_replies_before_the_first_call(day: Day) -> None:
    asked, _, _ = play(day, None)
    for first, _, _, known in asked[1:]:
        before = day.replies[day.replies < day.questions.times[first]]
        assert known == before[-1]


def test_packets_are_given_as_captured_or_stamped_again(day: Day) -> None:
    packets = day.packets
    restamped = packets.stamped(1, 3, np.array([1.5, 2.25]))
    captured = packets.as_captured(1, 3)
    assert len(restamped) == len(captured)
    path = Path(str(packets.content.filename)).with_name("stamped.pcap")
    path.write_bytes(packets.header + restamped)
    assert Packets(path).times.tolist() == [1_500_000, 2_250_000]
    assert Packets(path).seconds.tolist() == [0, 0.75]


def test_counts_served_answers_with_a_known_outcome() -> None:
    answer = np.array([True, True, False, False, True])
    known = np.array([True, True, True, True, False])
    found = figures(answer, known, np.array([True, False, True, False]))
    assert found == {"errors": 0.5, "true_positives": 0.25, "false_positives": 0.25}


def row(served: float, evaluated: float, **others: Any) -> dict[str, Any]:
    shares = {"true_positives": 0.5, "false_positives": 0.0}
    who = {"served": served, "evaluated": evaluated} | others
    return {"predicate": "lock", "level": "full"} | {
        name: {"errors": errors, **shares} for name, errors in who.items()
    }


def test_the_summary_says_whether_what_is_asked_of_the_service_holds() -> None:
    assert "by more than 0.3 on 1 of 2" in summary([row(0.104, 0.1), row(0.102, 0.1)])
    assert "mean errors 10.00, at most those of rules, 11.00" in summary(
        [row(0.1, 0.1, rules=0.11)]
    )
    assert "mean errors 12.00, MORE than those of rules" in summary([row(0.12, 0.1, rules=0.11)])


def test_refuses_to_play_a_file_that_is_no_capture(tmp_path: Path, day: Day) -> None:
    with pytest.raises(SystemExit, match="expected a capture to be played, found a directory"):
        expect_capture(tmp_path)
    with pytest.raises(SystemExit, match=r"day2\.parquet: expected a capture to be played"):
        expect_capture(DAYS[1])
    packed = tmp_path / "day.pcap.gz"
    packed.write_bytes(gzip.compress(day.packets.content.tobytes()))
    expect_capture(packed)


def test_a_compressed_capture_is_a_day_like_the_plain_one(
    tmp_path: Path, day: Day, model: TrainedModel
) -> None:
    packed = tmp_path / "day.pcap.gz"
    packed.write_bytes(gzip.compress(day.packets.content.tobytes()))
    found = read_day(packed, tmp_path / "scratch", model)
    assert found.packets.content.tobytes() == day.packets.content.tobytes()
    assert found.questions.full == day.questions.full


def test_a_speed_is_a_number_or_max(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--train", "a", "--test", "b", "--speed"]
    assert arguments([*words, "max"]).speed is None
    assert arguments([*words, "10"]).speed == 10
    for wrong in ("fast", "0", "-1"):
        with pytest.raises(SystemExit):
            arguments([*words, wrong])
    assert "expected a number above 0, or max, found '-1'" in capsys.readouterr().err


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with some seconds of each bundled day: to learn from, and to play."""
    folder = tmp_path_factory.mktemp("site")
    cut(DAYS[0], folder / "first.parquet", 12)
    cut(DAYS[1], folder / "second.parquet", 6)
    write_capture(open_trace(folder / "second.parquet"), folder / "second.pcap")
    return folder


@pytest.fixture(scope="module", params=["max", "5"])
def measured(site: Path, request: pytest.FixtureRequest) -> tuple[list[dict[str, Any]], str]:
    """Return the rows and the output of a run at a speed."""
    days = ["--train", "first.parquet", "--test", "second.pcap", "--kind", "forest"]
    command = [*days, "--speed", request.param, "--json", "rows.json", "--registry", "registry"]
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks.live", *command],
        cwd=site,
        env={"PYTHONPATH": str(ROOT)},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads((site / "rows.json").read_text()), run.stdout


@pytest.mark.deep
def test_each_predicate_is_judged_at_each_level_and_point(
    measured: tuple[list[dict[str, Any]], str],
) -> None:
    rows, _ = measured
    places = [(row["predicate"], row["level"], row["point"]) for row in rows]
    assert len(set(places)) == len(places)
    assert {place[1:] for place in places} == {
        (level, point) for level in LEVELS for point in ("accurate", "bounded")
    }
    for row in rows:
        assert row["n"] > 0
        for who in ("served", "evaluated"):
            assert set(row[who]) == {"errors", "true_positives", "false_positives"}
            assert 0 <= row[who]["true_positives"] + row[who]["errors"] <= 1


@pytest.mark.deep
def test_a_service_that_follows_nothing_answers_as_evaluate_without_history(
    measured: tuple[list[dict[str, Any]], str],
) -> None:
    rows, _ = measured
    bare = [row for row in rows if row["level"] == "bare"]
    assert bare
    assert all(row["served"] == row["evaluated"] for row in bare)
    assert all("rules" in row for row in bare)


@pytest.mark.deep
def test_a_service_with_live_history_uses_the_directory(
    measured: tuple[list[dict[str, Any]], str],
) -> None:
    rows, printed = measured
    rested = [line for line in printed.splitlines() if line.startswith("rested on: ")]
    words = [line.split()[2] for line in rested]
    assert words == ["directory", "caller", "nothing"] * 2

    def errors(level: str) -> float:
        own = [row["served"]["errors"] for row in rows if row["level"] == level]
        return float(np.mean(own))

    assert errors("full") != errors("bare")
    assert "the follower decoded" in printed
