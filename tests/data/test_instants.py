"""Traces with impossible times: those records are set aside, and every other one is read."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.datasets.tables import read_table
from birthmark.data.ingest.decoded import Decoded, decode
from birthmark.data.ingest.run import ingest
from birthmark.data.traces.reader import open_trace
from tests.builders.whole import Whole

DAY = 86_400
START = 1_003_680_000  # 2001-10-21T16:00:00Z
NEVER = int(datetime(2223, 1, 1, tzinfo=UTC).timestamp())

Lines = Callable[..., list[str]]


def call(time: float, xid: int) -> str:
    return f"{time:.6f} 31.03f7 30.0801 U C3 {xid:x} 1 getattr fh 01 con = 1 len = 1\n"


def calls(*days: float, each: int = 40) -> list[str]:
    """Return ``each`` calls on each day, a second apart."""
    times = [START + day * DAY + second for day in days for second in range(each)]
    return [call(time, xid) for xid, time in enumerate(times, 1)]


def read(path: Path) -> tuple[list[int], Whole]:
    """Return the XIDs of the calls read, in order, and the trace."""
    trace = Whole(path)
    rows = sorted(trace.rows(), key=lambda row: row["time"])
    return [row["xid"] for row in rows], trace


def read_text(path: Path, lines: list[str]) -> tuple[list[int], Whole]:
    path.write_text("".join(lines))
    return read(path)


def accounted_for(counts: dict[str, Any]) -> int:
    """Return the sum of the records' destinations, which must equal the records in."""
    tallies = counts["procedures"].values()
    return int(
        sum(tally["calls"] + tally["replies"] for tally in tallies)
        + sum(counts["damaged"].values())
        + sum(counts["orphans"].values())
        + sum(sum(each) for each in counts["other_programs"].values())
        + counts.get("comments", 0)
    )


@pytest.mark.parametrize("at", [0, 1, 20, 39, 40])
@pytest.mark.parametrize(
    ("time", "reason"),
    [
        (NEVER, "after-clock"),
        (2**53, "bad-time"),  # no clock tells so many seconds in 12 digits
        (999_999_999_999, "after-clock"),
        (2**31 - 1, "after-clock"),
        (2**31, "after-clock"),
        (2**32 - 1, "after-clock"),
        (START + 3000 * DAY, "odd-time"),
        (0, "odd-time"),
    ],
)
def test_a_line_with_a_wrong_time_is_set_aside_with_the_reason(
    tmp_path: Path, at: int, time: int, reason: str
) -> None:
    lines = calls(0)
    lines.insert(at, call(time, 0xBAD))
    xids, trace = read_text(tmp_path / "trace", lines)
    assert xids == list(range(1, 41))
    (damaged,) = trace.damaged
    assert (damaged["line"], damaged["reason"]) == (at + 1, reason)
    assert damaged["bytes"].decode() == lines[at].strip()
    assert trace.counts()["damaged"] == {reason: 1}
    assert accounted_for(trace.counts()) == trace.counts()["records"] == 41
    assert trace.counts()["period"] == (START * 10**6, (START + 39) * 10**6)


def test_a_reason_says_what_was_expected_and_found(tmp_path: Path) -> None:
    lines = [*calls(0), call(START + 3000 * DAY, 1), call(NEVER, 1)]
    _, trace = read_text(tmp_path / "trace", lines)
    odd, late = (record["expected"] for record in trace.damaged)
    assert odd == (
        "a time near that of its neighbours, 2001-10-21T16:00:39Z: not 2010-01-07T16:00:00Z,"
        " 2999 days from it"
    )
    assert late.startswith("a time until 20")
    assert late.endswith("Z, a day after this host's clock: not 2223-01-01T00:00:00Z")


@pytest.mark.parametrize("gap", [1.5, 3, 31, 400, -5])
def test_a_gap_or_a_clock_set_back_loses_no_record(tmp_path: Path, gap: float) -> None:
    lines = calls(0, gap)
    xids, trace = read_text(tmp_path / "trace", lines)
    assert sorted(xids) == list(range(1, 81))
    assert trace.counts()["damaged"] == {}


def test_a_trace_that_is_mostly_after_the_clock_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{tmp_path}/trace: 2 of 2 records have times later"):
        read_text(tmp_path / "trace", [call(NEVER, 1), call(NEVER + 1, 2)])
    for out in (tmp_path / "decoded", tmp_path / "dataset"):
        with pytest.raises(ValueError, match=f"{tmp_path}/trace: 2 of 2 records"):
            decode(tmp_path / "trace", out) if out.name == "decoded" else ingest(
                [tmp_path / "trace"], out
            )
        assert not list(out.rglob("*.parquet"))


def test_a_packet_with_a_flipped_bit_in_its_time_is_set_aside(tmp_path: Path, tiny: bytes) -> None:
    good = read_capture(tmp_path, tiny)
    times = sorted({*packets(tiny)})
    for at in (times[0], times[len(times) // 2], times[-1]):
        spoiled = bytearray(tiny)
        (seconds,) = struct.unpack_from("<I", spoiled, at)
        struct.pack_into("<I", spoiled, at, seconds ^ 1 << 31)
        counts = read_capture(tmp_path, bytes(spoiled))
        assert counts["damaged"] == {"after-clock": 1}
        assert counts["records"] == accounted_for(counts)
        assert counts["capture"]["packets"] == good["capture"]["packets"] - 1
        first, last = counts["period"]
        assert good["period"][0] <= first <= last <= good["period"][1]


@pytest.fixture(scope="module")
def tiny(shared: Path) -> bytes:
    return (shared / "captures" / "tiny.pcap").read_bytes()


def packets(capture: bytes) -> list[int]:
    """Return the offsets of the packet headers in a classic capture."""
    at, found = 24, []
    while at < len(capture):
        found.append(at)
        at += 16 + struct.unpack_from("<I", capture, at + 8)[0]
    return found


def read_capture(tmp_path: Path, content: bytes) -> dict[str, Any]:
    (tmp_path / "capture").write_bytes(content)
    _, trace = read(tmp_path / "capture")
    return trace.counts()


HOUR = 3600


def with_run(hours: int, count: int, at: int = 1000) -> list[str]:
    """Return 2,000 calls, ten a second, and within them a run of others from ``hours`` away."""
    times = [START + number / 10 for number in range(2000)]
    run = [START + hours * HOUR + number / 10 for number in range(count)]
    return [call(time, xid) for xid, time in enumerate([*times[:at], *run, *times[at:]], 1)]


def as_parquet(path: Path) -> Path:
    """Write the calls in a text, with unchanged times, into a Parquet file of operations."""
    rows = [line.split() for line in path.read_text().splitlines()]
    micros = [round(float(row[0]) * 1e6) for row in rows]
    table = pa.Table.from_batches(list(open_trace(path))).slice(0, 1)
    table = pa.concat_tables([table] * len(rows)).combine_chunks()
    for name, values in (("time", micros), ("xid", [int(row[5], 16) for row in rows])):
        place = table.schema.get_field_index(name)
        column = pa.array(values).cast(table.schema.field(name).type)
        table = table.set_column(place, table.schema.field(name), column)
    pq.write_table(table, path.with_suffix(".parquet"), row_group_size=700)
    return path.with_suffix(".parquet")


@pytest.mark.parametrize("kind", ["text", "parquet"])
@pytest.mark.parametrize(("hours", "count"), [(3, 7), (5, 20), (-3, 20), (30, 60)])
def test_a_run_of_records_hours_away_is_set_aside_in_every_format(
    tmp_path: Path, kind: str, hours: int, count: int
) -> None:
    path = tmp_path / "trace"
    path.write_text("".join(with_run(hours, count)))
    xids, trace = read(path if kind == "text" else as_parquet(path))
    assert xids == [*range(1, 1001), *range(1001 + count, 2001 + count)]
    assert [each["line"] for each in trace.damaged] == [*range(1001, 1001 + count)]
    assert trace.counts()["damaged"] == {"odd-time": count}
    assert accounted_for(trace.counts()) == trace.counts()["records"] == 2000 + count


@pytest.mark.parametrize("kind", ["text", "parquet"])
@pytest.mark.parametrize("hours", [3, 30, -3])
def test_a_gap_of_hours_and_a_clock_that_was_set_lose_nothing_in_any_format(
    tmp_path: Path, kind: str, hours: int
) -> None:
    path = tmp_path / "trace"
    path.write_text("".join(with_run(hours, 300, at=2000)))
    xids, trace = read(path if kind == "text" else as_parquet(path))
    assert sorted(xids) == list(range(1, 2301))
    assert trace.counts()["damaged"] == {}


def test_a_run_of_packets_hours_away_is_set_aside(tmp_path: Path, tiny: bytes) -> None:
    good = read_capture(tmp_path, tiny)
    spoiled = bytearray(tiny)
    middle = packets(tiny)[20:27]
    for at in middle:
        (seconds,) = struct.unpack_from("<I", spoiled, at)
        struct.pack_into("<I", spoiled, at, seconds + 5 * HOUR)
    counts = read_capture(tmp_path, bytes(spoiled))
    assert counts["damaged"] == {"odd-time": len(middle)}
    assert counts["capture"]["packets"] == good["capture"]["packets"] - len(middle)
    assert counts["period"][1] <= good["period"][1]


IMPOSSIBLE = [
    (2**63 - 1, "after-clock"),
    (-1, "before-1970"),
    (int(NEVER * 1e6), "after-clock"),
    (0, "odd-time"),  # one row of 1970
]


@pytest.mark.parametrize(
    ("column", "time", "reason"),
    [
        *(("time", *each) for each in IMPOSSIBLE),
        *(("reply_time", *each) for each in IMPOSSIBLE),
        ("time", (START + 7 * HOUR) * 10**6, "odd-time"),  # a reply may take hours
    ],
)
def test_rows_of_parquet_with_impossible_times_are_set_aside(
    tmp_path: Path, time: int, reason: str, column: str
) -> None:
    _, trace = read_text(tmp_path / "trace", calls(0))
    table = pa.Table.from_batches(list(open_trace(tmp_path / "trace")))
    times = table[column].cast(pa.int64()).to_pylist()
    odd = pa.array([*times[:7], time, *times[8:]]).cast(table["time"].type)
    index = table.schema.get_field_index(column)
    pq.write_table(table.set_column(index, table.schema.field(index), odd), tmp_path / "rows")
    xids, trace = read(tmp_path / "rows")
    assert len(xids) == 39
    (damaged,) = trace.damaged
    assert (damaged["line"], damaged["reason"]) == (8, reason)
    assert accounted_for(trace.counts()) == trace.counts()["records"] == 40
    summary = ingest([tmp_path / "rows"], tmp_path / "dataset")
    assert summary.records_set_aside == {reason: 1}
    assert len(read_table(tmp_path / "dataset", "operations")) == 39


def test_records_with_impossible_times_are_in_the_quarantine(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("".join([*calls(0), call(NEVER, 1)]))
    summary = ingest([tmp_path / "trace"], tmp_path / "dataset")
    assert summary.records_set_aside == {"after-clock": 1}
    assert "2223-01-01" in (tmp_path / "dataset" / "quarantine" / "0001.jsonl").read_text()
    decode(tmp_path / "trace", tmp_path / "decoded")
    assert Counter(Decoded(tmp_path / "decoded").counts["damaged"]) == {"after-clock": 1}
