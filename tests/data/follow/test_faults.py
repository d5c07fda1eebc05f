"""What befalls a follower with a live history: kills, damage, full disks, clocks that are set.

After each its datasets are those of ingest, and its history is that of a follower whom nothing
befell.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from birthmark.data.datasets.tables import read_files, read_table
from birthmark.data.follow import state
from birthmark.data.follow.hour import Hour
from birthmark.data.follow.run import Follower, follow
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.schema import TIME
from birthmark.data.settings import Following
from birthmark.data.traces.captures import write_capture
from birthmark_native import LiveHistory, SharedHistory
from tests.builders.followed import Rows, hours, packets, rows, split, spread
from tests.data.follow.test_mirror import ASKED, Beside, until_quiet
from tests.data.follow.test_resume import KilledError, killer
from tests.faults import commands
from tests.faults.disks import Disk, mounted
from tests.waiting import eventually

KILLS = 20
PART = 1_000
"""So many operations pass before each kill."""
APART, PAUSE = 40_000, 90_000_000
"""From one operation to the next, and from one part to the next, in microseconds. While nothing
comes a follower knows what falls due meanwhile: the pause is longer than any wait of a test."""

CHANGES = 1_500
"""Before one of so many changes of files, counted from its start, a follower is killed."""

HOW = Following(hour_seconds=30, history_keys=10_000)


@dataclass(frozen=True)
class Traffic:
    """Traffic in parts, each a capture, and what is known of it if nothing befalls anybody.

    `expected` are ingest's rows. `asked` is what readers are asked once the last message has come,
    at `ended` (µs since the epoch), and `told` what they are told; `kept` is what is saved then.
    """

    parts: list[Path]
    expected: Rows
    asked: pa.RecordBatch
    ended: int
    told: list[dict[str, Any]]
    kept: list[pa.RecordBatch]


def paused(operations: pa.Table, apart: int, pause: int) -> pa.Table:
    """Return operations with a pause behind each `PART` of them; of a pause no call is made."""
    operations = spread(operations, apart)
    later = pa.array([number // PART * pause for number in range(len(operations))])
    for name in ("time", "reply_time"):
        place = operations.schema.get_field_index(name)
        column = pc.add(operations[name].cast(pa.int64()), later).cast(TIME)
        operations = operations.set_column(place, operations.schema.field(name), column)
    return operations


@pytest.fixture(scope="module")
def traffic(tmp_path_factory: pytest.TempPathFactory) -> Traffic:
    """Return traffic whose last part is one operation that makes no file: all else has come due."""
    folder = tmp_path_factory.mktemp("traffic")
    table = pq.read_table(DAYS[0]).slice(0, KILLS * PART)
    last = table.filter(pc.equal(table["op"], "getattr")).slice(0, 1)
    table = paused(pa.concat_tables([table, last]), APART, PAUSE)
    whole, ingested = folder / "whole.pcap", folder / "ingested"
    write_capture(table.to_batches(), whole, cut_data=True)
    ingest([whole], ingested)
    parts, followed = parted(whole, folder / "parts"), Followed(folder / "followed")
    for part in parts:
        followed.bring(part)
    asked, last_reply = nameless(creates(ingested)), ended(ingested)
    told = followed.told(asked, last_reply)
    assert len({row["history"] for row in told}) > 100
    return Traffic(parts, rows(ingested), asked, last_reply, told, followed.kept())


def parted(capture: Path, into: Path) -> list[Path]:
    """Write each part of a capture into a file of its own."""
    into.mkdir()
    header, frames = packets(capture)
    parts: list[list[bytes]] = []
    before = 0
    for frame in frames:
        seconds = int.from_bytes(frame[:4], "little")
        if not parts or seconds - before > PAUSE / 2e6:
            parts.append([])
        parts[-1].append(frame)
        before = seconds
    paths = [into / f"{number:02}.pcap" for number in range(len(parts))]
    for path, own in zip(paths, parts, strict=True):
        path.write_bytes(header + b"".join(own))
    return paths


def creates(dataset: Path) -> pa.RecordBatch:
    """Return what was born, as somebody asks about it a day later.

    What a directory was called that was removed is not known to a follower that was begun again.
    """
    all_files = read_files(dataset)
    removed = all_files.filter(all_files["died"].is_valid())["fh"]
    files = all_files.filter(all_files["birth_seen"])
    files = files.filter(pc.invert(pc.is_in(files["dir_fh"], removed)))
    files = files.append_column("time", files["born"])
    asked = pa.table({name: files[name].cast(kind) for name, kind in ASKED.items()})
    late = pc.add(pc.max(asked["time"]), timedelta(days=1))
    asked = asked.set_column(6, "time", pa.repeat(late, len(asked)))
    (batch,) = asked.combine_chunks().to_batches()
    return batch


def nameless(asked: pa.RecordBatch) -> pa.RecordBatch:
    """Return creates whose asker knows no directory's own name."""
    return asked.set_column(2, "dir_name", pa.nulls(len(asked), pa.large_binary()))


class Followed:
    """A folder that is followed into another by the command, with a live history."""

    def __init__(self, folder: Path, out: Path | None = None) -> None:
        self.captures, self.out = folder / "captures", out or folder / "out"
        self.history = folder / "run" / "history"
        self.captures.mkdir(parents=True)
        self.history.parent.mkdir(mode=0o700)
        self.reader = SharedHistory(self.history, max_age=600, max_lag=1e12, max_loss=1.0)

        self.command = ["follow", str(self.captures), str(self.out)]
        options = HOW.model_dump(exclude_defaults=True) | {"history": self.history}
        for name, value in options.items():
            self.command += [f"--{name.replace('_', '-')}", str(value)]

    def bring(self, part: Path) -> None:
        """Let a capture appear, whole."""
        aside = self.captures / f".{part.name}"
        aside.write_bytes(part.read_bytes())
        aside.rename(self.captures / part.name)

    @contextmanager
    def follower(self) -> Iterator[subprocess.Popen[bytes]]:
        """Begin to follow; ends the follower, if it has not ended, as systemd would."""
        before = self.generation()
        command = [sys.executable, "-m", "birthmark", *self.command]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            assert eventually(lambda: self.generation() != before, 60)
            yield process
            process.terminate()
        assert process.returncode in (0, -signal.SIGKILL)

    def generation(self) -> Any:
        """Return which of the files that come one after the other the history is."""
        self.reader.tell(b"")  # has another file opened, if there is one
        return self.reader.status().get("generation")

    def told(self, asked: pa.RecordBatch, clock: int) -> list[dict[str, Any]]:
        """Return what readers are told once all is known until a time."""
        with self.follower():
            assert eventually(lambda: self.reader.status()["clock"] >= clock, 60)
            assert eventually(lambda: self.reader.status()["why"] is None)
            answers: list[dict[str, Any]] = self.reader.at(asked).to_pylist()
        return answers

    def kept(self) -> list[pa.RecordBatch]:
        """Return what is known of files and of names when the next follower goes on."""
        last = state.newest(self.out)
        assert last is not None
        live = LiveHistory.load(state.lives(self.out, last))
        return [live.history(subject).to_batch() for subject in ("file", "name")]

    def rows(self) -> Rows:
        """Return the rows of all datasets, once the traffic has ended."""
        end = HOW.model_copy(update={"history": self.history, "until_idle": 0.01})
        follow(self.captures, self.out, end)
        return rows(*hours(self.out))


class KilledBefore:
    """Kills a process (SIGKILL) just before it changes files so many times; or later, if never."""

    def __init__(self, changes: int) -> None:
        self._left = changes

    def __call__(self) -> None:
        """Lie in wait, in the process that is meant."""
        sys.addaudithook(self._see)
        late = threading.Timer(5, os.kill, (os.getpid(), signal.SIGKILL))
        late.daemon = True
        late.start()

    def _see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event not in commands.CHANGES or (event == "open" and arguments[1] in ("r", "rb")):
            return
        self._left -= 1
        if not self._left:
            os.kill(os.getpid(), signal.SIGKILL)


def killed_at_an_instant(followed: Followed, chance: random.Random) -> None:
    with followed.follower() as process:
        time.sleep(chance.uniform(0, 2))  # it waits for nothing: the instant is at random
        process.kill()


def killed_before_a_change(followed: Followed, chance: random.Random) -> None:
    killer = KilledBefore(chance.randrange(1, CHANGES))
    log = followed.out.parent / "log"
    assert commands.run(log, *followed.command, before=killer) == -signal.SIGKILL


@pytest.mark.deep
@pytest.mark.parametrize("kill", [killed_at_an_instant, killed_before_a_change])
def test_a_follower_killed_20_times_tells_what_one_tells_that_was_not(
    traffic: Traffic, tmp_path: Path, kill: Callable[[Followed, random.Random], None]
) -> None:
    killed, chance = Followed(tmp_path / "killed"), random.Random(16)
    *parts, last = traffic.parts
    assert len(parts) == KILLS
    for part in parts:
        killed.bring(part)
        kill(killed, chance)
    assert 1 < len(hours(killed.out)) < 2 * KILLS
    killed.bring(last)
    assert killed.told(traffic.asked, traffic.ended) == traffic.told
    assert killed.kept() == traffic.kept
    assert killed.rows() == traffic.expected


def ended(dataset: Path) -> int:
    """Return when the last message came, in microseconds since the epoch."""
    times = read_table(dataset, "operations", ["reply_time"])["reply_time"]
    return int(pc.max(times.cast(pa.int64())).as_py())


def flipped(content: bytes, seed: int) -> bytes:
    """Return content of which one bit, anywhere, is another."""
    place = random.Random(seed).randrange(8 * len(content))
    changed = bytearray(content)
    changed[place // 8] ^= 1 << place % 8
    return bytes(changed)


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "flipped, 1": lambda content: flipped(content, 1),
    "flipped, 2": lambda content: flipped(content, 2),
    "flipped, 3": lambda content: flipped(content, 3),
    "cut short": lambda content: content[: len(content) // 2],
    "longer": lambda content: content + b"\0",
    "empty": lambda content: b"",
}


@pytest.fixture(scope="module")
def killed(whole: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with `captures`, and `out`, what a follower of them left that was killed."""
    folder = tmp_path_factory.mktemp("killed")
    (folder / "run").mkdir(mode=0o700)
    split(whole / "whole.pcap", folder / "captures", [101] * 30)
    how = Following(hour_seconds=30, history=folder / "run" / "history", history_keys=10_000)
    with pytest.raises(KilledError):
        follow(folder / "captures", folder / "out", how, killer(900))
    return folder


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_of_a_damaged_snapshot_nothing_is_told_and_its_file_is_named(
    killed: Path,
    whole: Path,
    tmp_path: Path,
    damage: Callable[[bytes], bytes],
    caplog: pytest.LogCaptureFixture,
) -> None:
    out = shutil.copytree(killed / "out", tmp_path / "out")
    last = state.newest(out)
    assert last is not None
    kept = state.lives(out, last)
    kept.write_bytes(damage(kept.read_bytes()))
    (tmp_path / "run").mkdir(mode=0o700)
    history, beside = tmp_path / "run" / "history", Beside()
    how = Following(hour_seconds=30, until_idle=5, history=history, history_keys=10_000)
    asked = creates(whole / "ingested")
    with Follower(killed / "captures", out, how, beside) as follower:
        while follower.status.clock != ended(whole / "ingested"):
            assert follower.go_on()
        for _ in until_quiet(follower):
            pass
        reader = SharedHistory(history, max_age=600, max_lag=1e12, max_loss=1.0)
        told = reader.at(asked)
    known = beside.live.history("file").at(asked).to_pylist()
    assert told["history"].to_pylist() == known
    known_of_names = beside.live.history("name").at(nameless(asked)).to_pylist()
    assert told["name_history"].to_pylist() == known_of_names
    assert str(kept) in caplog.text
    assert 100 < beside.operations < 1500
    assert sum(len(read_table(hour, "operations", ["xid"])) for hour in hours(out)) == 1500


def test_a_place_that_is_damaged_is_not_gone_on_from(killed: Path, tmp_path: Path) -> None:
    out = shutil.copytree(killed / "out", tmp_path / "out")
    last = state.newest(out)
    assert last is not None
    place = state.lives(out, last).with_name("place.json")
    content, found = place.read_bytes(), set()
    for seed in range(300):
        place.write_bytes(flipped(content, seed))
        found.add(what_is_gone_on_from(out))
    # what does not matter: how a space is written
    assert found - {last} == {f"{place}: expected where a follower goes on"}


def what_is_gone_on_from(out: Path) -> state.State | str | None:
    """Return the state, or how an error begins that says why there is none."""
    try:
        return state.newest(out)
    except ValueError as error:
        return ":".join(str(error).split(":")[:2])


def test_an_hour_that_finds_no_room_is_followed_again_and_all_behind_it(
    whole: Path, expected: Rows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last two are finished at once: that a later one finds room does not lose the first."""
    how = Following(hour_seconds=20, until_idle=0.01)
    follow(whole / "whole.pcap", tmp_path / "undisturbed", how)
    publish, out, full = Hour.publish, tmp_path / "out", [hours(tmp_path / "undisturbed")[-2].name]

    def once_full(own: Hour, *of: Any) -> Path:
        if full == [own.name]:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), full.pop())
        return publish(own, *of)

    monkeypatch.setattr(Hour, "publish", once_full)
    with pytest.raises(OSError, match="No space left on device"):
        follow(whole / "whole.pcap", out, how)
    follow(whole / "whole.pcap", out, how)
    assert rows(*hours(out)) == expected


HOURS_3 = 10_800


def moved(frame: bytes, seconds: int) -> bytes:
    """Return a packet that came so much later."""
    return struct.pack("<I", struct.unpack_from("<I", frame)[0] + seconds) + frame[4:]


class Piped:
    """A follower of a pipe, into which packets are put, with a live history."""

    def __init__(self, folder: Path, header: bytes) -> None:
        (folder / "run").mkdir(mode=0o700)
        source, self._sink = os.pipe()
        self.out, history = folder / "out", folder / "run" / "history"
        how = Following(hour_seconds=60, history=history, history_keys=10_000)
        self.beside = Beside()
        self.follower = Follower(f"/dev/fd/{source}", self.out, how, self.beside)
        self.reader = SharedHistory(history, max_age=600, max_lag=1e12, max_loss=0.01)
        self.written = header
        os.write(self._sink, header)

    def put(self, frames: list[bytes]) -> None:
        """Let packets pass, and all become known that they tell."""
        for at in range(0, len(frames), 1000):
            os.write(self._sink, b"".join(frames[at : at + 1000]))
            for _ in until_quiet(self.follower):
                pass
        self.written += b"".join(frames)

    def end(self) -> None:
        """Let no more come."""
        os.close(self._sink)
        while self.follower.go_on():
            pass

    def why(self) -> str | None:
        """Return why nothing is told, if nothing is."""
        return self.reader.tell(b"a")[2]


def without_some(frames: list[bytes]) -> list[bytes]:
    """Return packets of which every eighth was lost."""
    return [frame for number, frame in enumerate(frames) if number % 8]


def test_a_clock_that_is_set_tells_nothing_wrong_for_long_and_nothing_twice(
    whole: Path, tmp_path: Path
) -> None:
    """The monitor's clock is three hours ahead for a while, in which packets are lost."""
    header, frames = packets(whole / "whole.pcap")
    piped, third = Piped(tmp_path, header), len(frames) // 3
    with piped.follower:
        piped.put(without_some(frames[:third]))
        assert piped.why() is None
        piped.put([moved(frame, HOURS_3) for frame in frames[third : 2 * third]])
        assert piped.why() == "lossy"  # what was lost before, which is known by now
        piped.put(frames[2 * third :])
        assert piped.why() is None
        assert piped.reader.status()["clock"] == piped.follower.status.clock
        piped.end()
    (tmp_path / "passed.pcap").write_bytes(piped.written)
    ingest([tmp_path / "passed.pcap"], tmp_path / "ingested")
    assert rows(*hours(piped.out)) == rows(tmp_path / "ingested")
    assert each_is_told_once(piped.beside.live)


def test_what_was_lost_counts_for_some_minutes_from_when_it_is_known(
    whole: Path, tmp_path: Path
) -> None:
    header, frames = packets(whole / "whole.pcap")
    piped, fourth = Piped(tmp_path, header), len(frames) // 4
    with piped.follower:
        piped.put(without_some(frames[:fourth]))
        assert piped.why() is None
        piped.put(frames[fourth:])
        assert piped.why() == "lossy"
        piped.put([moved(frame, 1_000) for frame in frames[:fourth]])
        assert piped.why() is None
        piped.end()


def each_is_told_once(live: LiveHistory) -> bool:
    """Tell whether no birth, and no fact about one, was told twice."""
    births = live.take_births().select(["subject", "id"]).to_pylist()
    outcomes = live.take_outcomes().select(["subject", "id", "fact", "mark"]).to_pylist()
    assert len(births) > 100
    assert len(outcomes) > 100
    told = [tuple(each.values()) for each in (*births, *outcomes)]
    return len(set(told)) == len(told)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Yield a small disk with a directory `run`, that of a live history."""
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", "48m") as disk:
        (disk.path / "run").mkdir(mode=0o700)
        yield disk


@pytest.mark.deep
@pytest.mark.parametrize("free", [0, 1 << 16, 1 << 18, 1 << 20, 1 << 21])
def test_a_follower_whose_disk_is_full_says_so_and_goes_on_when_it_is_not(
    disk: Disk, traffic: Traffic, tmp_path: Path, free: int
) -> None:
    followed = Followed(tmp_path, disk.path / "out")
    *parts, last = traffic.parts
    for part in parts:
        followed.bring(part)
    with disk.filled(free):
        command = [sys.executable, "-m", "birthmark", *followed.command]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
        assert done.returncode == 1
        assert "No space left on device" in done.stderr
        assert str(disk.path) in done.stderr
        assert followed.reader.tell(b"a")[2] in ("stopped", "absent")
    followed.bring(last)
    assert followed.told(traffic.asked, traffic.ended) == traffic.told
    assert followed.kept() == traffic.kept
    assert followed.rows() == traffic.expected


@pytest.mark.deep
def test_a_live_history_is_made_whole_or_not_at_all_and_written_without_room(
    disk: Disk, whole: Path, expected: Rows, tmp_path: Path
) -> None:
    """A page that a full disk had no room for would end who writes it, and who reads (SIGBUS)."""
    history, (source, sink) = disk.path / "run" / "history", os.pipe()
    how = Following(hour_seconds=60, history=history, history_keys=10_000)
    reader = SharedHistory(history, max_age=600, max_lag=1e12, max_loss=1.0)
    header, frames = packets(whole / "whole.pcap")
    with disk.filled(1 << 20), pytest.raises(OSError, match="No space left") as refused:
        follow(whole / "whole.pcap", tmp_path / "out", how)
    assert refused.value.filename == str(history)
    assert sorted(path.name for path in history.parent.iterdir()) == ["history.lock"]
    assert reader.tell(b"a")[2] == "absent"
    with Follower(f"/dev/fd/{source}", tmp_path / "out", how) as follower, disk.filled():
        os.write(sink, header + b"".join(frames[:2000]))
        for _ in until_quiet(follower):
            pass
        feeder = threading.Thread(target=os.write, args=(sink, b"".join(frames[2000:])))
        feeder.start()
        for _ in until_quiet(follower):
            pass
        feeder.join()
        assert reader.status()["why"] is None
        assert reader.status()["keys"] > 1000
        os.close(sink)
        while follower.go_on():
            pass
    assert rows(*hours(tmp_path / "out")) == expected
