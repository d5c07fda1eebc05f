"""Traffic, and a follower of it whom something may befall; and what both are if nothing does."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.datasets.tables import read_files, read_table
from birthmark.data.follow import state
from birthmark.data.follow.run import follow
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.schema import LOOKED_UP, TIME
from birthmark.data.settings import Following
from birthmark.data.traces.captures import write_capture
from birthmark_native import LiveHistory, SharedHistory
from tests.builders.followed import Rows, hours, packets, rows, spread
from tests.waiting import eventually

KILLS = 20
PART = 1_000
"""So many operations pass before each kill."""
APART, PAUSE = 40_000, 90_000_000
"""From one operation to the next, and from one part to the next, in microseconds. While nothing
comes a follower knows what falls due meanwhile: the pause is longer than any wait of a test."""

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


def pass_by(folder: Path) -> Traffic:
    """Make traffic in a folder.

    Its last part is one operation that makes no file: of all others everything has come due.
    """
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
    asked = pa.table({name: files[name].cast(kind) for name, kind in LOOKED_UP.items()})
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
            try:
                assert eventually(lambda: self.generation() != before, 60)
                yield process
            finally:
                process.terminate()
        assert process.returncode in (0, -signal.SIGKILL)

    def generation(self) -> Any:
        """Return which of the files that come one after the other the history is."""
        self.reader.tell(b"")  # has another file opened, if there is one
        return self.reader.status().get("generation")

    def told(self, asked: pa.RecordBatch, clock: int) -> list[dict[str, Any]]:
        """Return what readers are told once all is known until a time."""
        with self.follower():
            assert eventually(lambda: self.reader.status().get("clock", 0) >= clock, 60)
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


def ended(dataset: Path) -> int:
    """Return when the last message came, in microseconds since the epoch."""
    times = read_table(dataset, "operations", ["reply_time"])["reply_time"]
    return int(pc.max(times.cast(pa.int64())).as_py())
