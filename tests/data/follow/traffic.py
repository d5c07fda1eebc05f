"""Traffic, a follower of it that can be disturbed, and the expected results of both."""

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
"""Operations between two kills."""
APART, PAUSE = 40_000, 90_000_000
"""Times between operations, and between parts, in microseconds. While idle a follower processes
everything that becomes due: the pause is longer than any wait of a test.
"""

HOW = Following(hour_seconds=30, history_keys=10_000)


@dataclass(frozen=True)
class Traffic:
    """Traffic in parts, each a capture, and the results of an undisturbed follower.

    `expected` are ingest's rows. `asked` are the queries after the last message, at `ended` (µs
    since the epoch), and `answers` the results; `saved` is the state saved then.
    """

    parts: list[Path]
    expected: Rows
    asked: pa.RecordBatch
    ended: int
    answers: list[dict[str, Any]]
    saved: list[pa.RecordBatch]


def paused(operations: pa.Table, apart: int, pause: int) -> pa.Table:
    """Return operations with a pause after each `PART` of them, without calls."""
    operations = spread(operations, apart)
    later = pa.array([number // PART * pause for number in range(len(operations))])
    for name in ("time", "reply_time"):
        place = operations.schema.get_field_index(name)
        column = pc.add(operations[name].cast(pa.int64()), later).cast(TIME)
        operations = operations.set_column(place, operations.schema.field(name), column)
    return operations


def pass_by(folder: Path) -> Traffic:
    """Make traffic in a folder.

    Its last part is one operation that makes no file: all other events have been emitted.
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
    answers = followed.answers(asked, last_reply)
    assert len({row["history"] for row in answers}) > 100
    return Traffic(parts, rows(ingested), asked, last_reply, answers, followed.saved())


def parted(capture: Path, into: Path) -> list[Path]:
    """Write each part of a capture into a separate file."""
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
    """Return the births, as queries a day later.

    A restarted follower does not know the name of a directory that was removed.
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
    """Return creates without their directories' names."""
    return asked.set_column(2, "dir_name", pa.nulls(len(asked), pa.large_binary()))


class Followed:
    """A folder that the command follows into another, with a live history."""

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
        """Add a complete capture."""
        hidden = self.captures / f".{part.name}"
        hidden.write_bytes(part.read_bytes())
        hidden.rename(self.captures / part.name)

    @contextmanager
    def follower(self) -> Iterator[subprocess.Popen[bytes]]:
        """Start a follower; end it as systemd would, if it has not ended."""
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
        """Return the generation of the history's file."""
        self.reader.tell(b"")  # makes it open a newer file, if there is one
        return self.reader.status().get("generation")

    def answers(self, asked: pa.RecordBatch, clock: int) -> list[dict[str, Any]]:
        """Return the answers to queries once everything is known until a time."""
        with self.follower():
            assert eventually(lambda: self.reader.status().get("clock", 0) >= clock, 60)
            assert eventually(lambda: self.reader.status()["why"] is None)
            answers: list[dict[str, Any]] = self.reader.at(asked).to_pylist()
        return answers

    def saved(self) -> list[pa.RecordBatch]:
        """Return the histories of files and of names from which the next follower continues."""
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
    """Return the time of the last message, in microseconds since the epoch."""
    times = read_table(dataset, "operations", ["reply_time"])["reply_time"]
    return int(pc.max(times.cast(pa.int64())).as_py())
