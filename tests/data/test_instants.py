"""Traces with times that cannot be: those records are set aside, and every other one is read."""

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
from birthmark.data.traces.reader import Trace, open_trace

DAY = 86_400
START = 1_003_680_000  # 2001-10-21T16:00:00Z
NEVER = int(datetime(2223, 1, 1, tzinfo=UTC).timestamp())

Lines = Callable[..., list[str]]


def call(time: float, xid: int) -> str:
    return f"{time:.6f} 31.03f7 30.0801 U C3 {xid:x} 1 getattr fh 01 con = 1 len = 1\n"


def calls(*days: float, each: int = 40) -> list[str]:
    """Return calls, so many on each day, a second apart."""
    times = [START + day * DAY + second for day in days for second in range(each)]
    return [call(time, xid) for xid, time in enumerate(times, 1)]


def read(path: Path) -> tuple[list[int], Trace]:
    """Return the XIDs of the calls that were read, in their order, and the trace."""
    trace = open_trace(path)
    rows = [row for batch in trace for row in batch.select(["time", "xid"]).to_pylist()]
    return [row["xid"] for row in sorted(rows, key=lambda row: row["time"])], trace


def read_text(path: Path, lines: list[str]) -> tuple[list[int], Trace]:
    path.write_text("".join(lines))
    return read(path)


def accounted_for(counts: dict[str, Any]) -> int:
    """Return the sum of where records went: it must be that of the records in."""
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
    (damaged,) = trace.take_damaged()
    assert (damaged["line"], damaged["reason"]) == (at + 1, reason)
    assert damaged["bytes"].decode() == lines[at].strip()
    assert trace.counts()["damaged"] == {reason: 1}
    assert accounted_for(trace.counts()) == trace.counts()["records"] == 41
    assert trace.counts()["period"] == (START * 10**6, (START + 39) * 10**6)


def test_a_reason_says_what_was_expected_and_found(tmp_path: Path) -> None:
    lines = [*calls(0), call(START + 3000 * DAY, 1), call(NEVER, 1)]
    _, trace = read_text(tmp_path / "trace", lines)
    odd, late = (record["expected"] for record in trace.take_damaged())
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
    """Return where the headers of a classic capture's packets are."""
    at, found = 24, []
    while at < len(capture):
        found.append(at)
        at += 16 + struct.unpack_from("<I", capture, at + 8)[0]
    return found


def read_capture(tmp_path: Path, content: bytes) -> dict[str, Any]:
    (tmp_path / "capture").write_bytes(content)
    _, trace = read(tmp_path / "capture")
    return trace.counts()


@pytest.mark.parametrize("time", [2**63 - 1, -1, int(NEVER * 1e6)])
def test_rows_of_parquet_with_impossible_times_are_set_aside(tmp_path: Path, time: int) -> None:
    _, trace = read_text(tmp_path / "trace", calls(0))
    table = pa.Table.from_batches(list(open_trace(tmp_path / "trace")))
    times = table["time"].cast(pa.int64()).to_pylist()
    odd = pa.array([*times[:7], time, *times[8:]]).cast(table["time"].type)
    index = table.schema.get_field_index("time")
    pq.write_table(table.set_column(index, table.schema.field(index), odd), tmp_path / "rows")
    xids, trace = read(tmp_path / "rows")
    assert len(xids) == 39
    (damaged,) = trace.take_damaged()
    assert (damaged["line"], damaged["reason"]) == (8, "impossible-time")
    assert accounted_for(trace.counts()) == trace.counts()["records"] == 40
    summary = ingest([tmp_path / "rows"], tmp_path / "dataset")
    assert summary.records_set_aside == {"impossible-time": 1}
    assert len(read_table(tmp_path / "dataset", "operations")) == 39


def test_what_was_set_aside_for_its_time_is_in_the_quarantine(tmp_path: Path) -> None:
    (tmp_path / "trace").write_text("".join([*calls(0), call(NEVER, 1)]))
    summary = ingest([tmp_path / "trace"], tmp_path / "dataset")
    assert summary.records_set_aside == {"after-clock": 1}
    assert "2223-01-01" in (tmp_path / "dataset" / "quarantine" / "0001.jsonl").read_text()
    decode(tmp_path / "trace", tmp_path / "decoded")
    assert Counter(Decoded(tmp_path / "decoded").counts["damaged"]) == {"after-clock": 1}
