"""Following gives the same rows as ingest, hour by hour, from pipes and from folders.

Tests also data/follow/.
"""

from __future__ import annotations

import gzip
import os
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data.common.durable import LockedError
from birthmark.data.datasets.ingests import records
from birthmark.data.datasets.tables import read_table
from birthmark.data.follow.run import Follower, follow
from birthmark.data.follow.status import Status
from birthmark.data.ingest.run import ingest
from birthmark.data.settings import Following
from tests.builders.followed import Rows, hours, packets, rows, split, text_of

MINUTE = Following(hour_seconds=60, until_idle=0.01)


def fed(
    folder: Path, feed: Callable[[int], None], settings: Following = MINUTE, **how: Any
) -> Path:
    """Follow a pipe into which `feed` writes; return the directory of the datasets."""
    os.mkfifo(folder / "pipe")

    def write() -> None:
        with (folder / "pipe").open("wb", buffering=0) as file:
            feed(file.fileno())

    writer = threading.Thread(target=write)
    writer.start()
    follow(folder / "pipe", folder / "out", settings, **how)
    writer.join()
    return folder / "out"


def chunks(content: bytes, size: int) -> Iterator[bytes]:
    return (content[at : at + size] for at in range(0, len(content), size))


def test_a_pipe_gives_the_rows_that_ingest_gives_hour_by_hour(
    whole: Path, expected: Rows, tmp_path: Path
) -> None:
    content = (whole / "whole.pcap").read_bytes()

    def feed(pipe: int) -> None:
        for chunk in chunks(content, 30_011):
            os.write(pipe, chunk)

    out = fed(tmp_path, feed)
    assert len(hours(out)) > 2
    assert rows(*hours(out)) == expected
    found_records = [record for path in hours(out) for record in records(path).values()]
    (ingested,) = records(whole / "ingested").values()
    for name in ("records_in", "records_out", "procedures", "rows"):
        assert added(each[name] for each in found_records) == ingested[name]


def added(counts: Iterator[Any]) -> Any:
    first, *others = counts
    if isinstance(first, int):
        return first + sum(others)
    names = {name: None for each in (first, *others) for name in each}
    return {name: added(each[name] for each in (first, *others) if name in each) for name in names}


def test_messages_sent_again_late_count_as_ingest_counts_them(whole: Path, tmp_path: Path) -> None:
    lines = text_of(whole / "whole.pcap")
    late = [
        (at + later + 0.5, later_time(line, lines, at + later))
        for later in (3, 40, 500, 1500)
        for at, line in list(enumerate(lines))[5:-later:37]
    ]
    numbered = [*enumerate(lines), *late]
    text = b"".join(line for _, line in sorted(numbered, key=lambda each: each[0]))
    (tmp_path / "trace.txt").write_bytes(text)
    ingest([tmp_path / "trace.txt"], tmp_path / "ingested")

    def feed(pipe: int) -> None:
        for chunk in chunks(text, 50_021):
            os.write(pipe, chunk)

    out = fed(tmp_path, feed)
    assert rows(*hours(out)) == rows(tmp_path / "ingested")
    operations = read_table(tmp_path / "ingested", "operations")
    for column in ("retransmits", "duplicate_replies"):
        assert sum(operations[column].to_pylist()) > 30


def later_time(line: bytes, lines: list[bytes], at: int) -> bytes:
    """Return a line with the time of another."""
    return b" ".join([lines[at].split(b" ", 1)[0], line.split(b" ", 1)[1]])


def test_operations_are_given_before_a_pipe_has_more(
    whole: Path, expected: Rows, tmp_path: Path
) -> None:
    header, frames = packets(whole / "whole.pcap")
    heard, seen = threading.Event(), []

    def feed(pipe: int) -> None:
        os.write(pipe, header + b"".join(frames[:200]) + frames[200][:20])  # the last one in part
        assert heard.wait(20)
        os.write(pipe, frames[200][20:] + b"".join(frames[201:]))

    def hear(batch: pa.RecordBatch) -> None:
        seen.append(len(batch))
        heard.set()

    out = fed(tmp_path, feed, on_operations=hear)
    assert 50 < seen[0] <= 100
    assert rows(*hours(out)) == expected


def test_files_of_a_folder_continue_each_other(whole: Path, expected: Rows, tmp_path: Path) -> None:
    split(whole / "whole.pcap", tmp_path / "captures", [301, 1, 700, 499, 1, 600])
    follow(tmp_path / "captures", tmp_path / "out", MINUTE)
    assert rows(*hours(tmp_path / "out")) == expected


def test_a_file_is_read_while_it_is_written_and_then_the_next(
    whole: Path, expected: Rows, tmp_path: Path
) -> None:
    folder = tmp_path / "captures"
    header, frames = packets(whole / "whole.pcap")
    folder.mkdir()
    pieces = [
        ("b.pcap", header),
        ("b.pcap", b"".join(frames[:700]) + frames[700][:30]),
        ("b.pcap", frames[700][30:] + b"".join(frames[701:1000])),
        ("a.pcap", header[:10]),
        ("a.pcap", header[10:] + b"".join(frames[1000:1500])),
        ("a.pcap", b"".join(frames[1500:2000])),
        ("c.pcap.gz", gzip.compress(header + b"".join(frames[2000:]))),
    ]
    with Follower(folder, tmp_path / "out", Following(hour_seconds=60, until_idle=1)) as follower:
        for name, more in pieces:
            with (folder / name).open("ab") as file:
                file.write(more)
            assert follower.go_on()
            assert follower.go_on()
        while follower.go_on():
            pass
    assert follower.status.files == 3
    assert rows(*hours(tmp_path / "out")) == expected


def test_growing_text_is_followed(whole: Path, tmp_path: Path) -> None:
    lines = text_of(whole / "whole.pcap")
    trace = tmp_path / "trace.txt"
    trace.write_bytes(b"".join(lines[:1000]) + lines[1000][:25])
    rest = [lines[1000][25:] + b"".join(lines[1001:])]

    def grow(status: Status) -> None:
        if status.operations > 300 and rest:
            with trace.open("ab") as file:
                file.write(rest.pop())

    follow(trace, tmp_path / "out", Following(hour_seconds=60, until_idle=1), tick=grow)
    ingest([trace], tmp_path / "ingested")
    assert not rest
    assert rows(*hours(tmp_path / "out")) == rows(tmp_path / "ingested")


def test_a_file_that_is_no_trace_is_skipped_and_reported(
    whole: Path, expected: Rows, tmp_path: Path
) -> None:
    first, *_ = split(whole / "whole.pcap", tmp_path / "captures", [1400])
    time = 1 + struct.unpack_from("<I", first.read_bytes(), 24)[0]
    (tmp_path / "captures" / "notes.txt").write_text(f"{time}.0 what is this\n")
    status = follow(tmp_path / "captures", tmp_path / "out", MINUTE)
    assert list(status.refused) == ["notes.txt"]
    assert status.files == 2
    assert rows(*hours(tmp_path / "out")) == expected


def test_a_late_file_is_skipped_and_reported(whole: Path, expected: Rows, tmp_path: Path) -> None:
    first, second = split(whole / "whole.pcap", tmp_path / "captures", [1400])
    late = first.with_name("late.pcap")
    second_time = struct.unpack_from("<I", second.read_bytes(), 24)

    def put(status: Status) -> None:
        if status.files == 2 and not late.exists():
            header, frames = packets(first)
            late.write_bytes(header + struct.pack("<I", second_time[0] - 3600) + frames[0][4:])

    patient = MINUTE.model_copy(update={"until_idle": 0.5})
    status = follow(tmp_path / "captures", tmp_path / "out", patient, tick=put)
    assert late.exists()
    assert list(status.refused) == ["late.pcap"]
    assert "it came late, or the clock was set back" in status.refused["late.pcap"]
    assert rows(*hours(tmp_path / "out")) == expected
    again = follow(tmp_path / "captures", tmp_path / "out", MINUTE)
    assert again.refused == {}


def test_one_follower_at_a_time_writes_into_a_directory(whole: Path, tmp_path: Path) -> None:
    with Follower(whole / "whole.pcap", tmp_path / "out", MINUTE), pytest.raises(LockedError):
        follow(whole / "whole.pcap", tmp_path / "out", MINUTE)


def test_a_pipe_that_holds_no_trace_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="is no trace"):
        fed(tmp_path, lambda pipe: os.write(pipe, b"\x00\x01what\n") and None)
    assert hours(tmp_path / "out") == []
