"""The losses of a monitor: the estimate, the loss table, and the lives possibly touched."""

from __future__ import annotations

import json
import random
import struct
from collections import defaultdict
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.datasets.tables import read_files, read_names, read_table
from birthmark.data.ingest.loss import Losses
from birthmark.data.ingest.run import ingest
from birthmark.data.schema import LOSS
from birthmark.data.traces.captures import write_capture
from tests.builders.whole import Whole

SAMPLE = Path(__file__).parents[3] / "data" / "samples" / "day1.parquet"
OPERATIONS = 12_000
SEED = 7


def drop(whole: Path, out: Path, rate: float) -> int:
    """Copy a capture without some of its packets, most of which hold one message."""
    chance = random.Random(SEED)
    content, at = whole.read_bytes(), 24
    remaining = [content[:at]]
    messages = 0
    while at < len(content):
        size = 16 + struct.unpack_from("<I", content, at + 8)[0]
        has_message = size > 16 + 54 + 28
        if has_message and chance.random() < rate:
            messages += 1
        else:
            remaining.append(content[at : at + size])
        at += size
    out.write_bytes(b"".join(remaining))
    return messages


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a whole capture of the sample, and one that lost 1% of its messages."""
    folder = tmp_path_factory.mktemp("loss")
    table = pq.read_table(SAMPLE).slice(0, OPERATIONS)
    write_capture(table.to_batches(), folder / "whole.pcap", cut_data=True)
    lost = drop(folder / "whole.pcap", folder / "lossy.pcap", 0.01)
    (folder / "lost.json").write_text(json.dumps(lost))
    for name in ("whole", "lossy"):
        ingest([folder / f"{name}.pcap"], folder / name)
    return folder


def test_a_whole_capture_has_no_estimated_loss(folder: Path) -> None:
    loss = read_table(folder / "whole", "loss")
    assert loss.schema.equals(LOSS)
    assert sum(loss["calls"].to_pylist()) == sum(loss["replies"].to_pylist()) == OPERATIONS
    assert set(loss["lost"].to_pylist()) == {0.0}
    assert set(loss["unseen"].to_pylist()) == {0}
    for lives in (read_files(folder / "whole"), read_names(folder / "whole")):
        assert set(lives["loss_nearby"].to_pylist()) == {False}


def test_the_estimate_is_near_what_was_dropped(folder: Path) -> None:
    lost = json.loads((folder / "lost.json").read_text())
    assert lost > 200
    loss = read_table(folder / "lossy", "loss")
    assert sum(loss["lost"].to_pylist()) == pytest.approx(lost, rel=0.05)
    assert min(loss["holes"].to_pylist()) > 0
    (summary,) = (folder / "lossy" / "ingests").iterdir()
    summary_loss = json.loads(summary.read_text())["loss"]
    assert summary_loss["fraction"] == pytest.approx(lost / (2 * OPERATIONS), rel=0.05)
    assert summary_loss["lost"] == pytest.approx(sum(loss["lost"].to_pylist()), abs=0.1)


def test_nearly_all_lives_that_loss_changed_are_marked_and_many_others_are_not(
    folder: Path,
) -> None:
    def by_handle(name: str) -> dict[bytes, list[dict[str, Any]]]:
        found = defaultdict(list)
        for row in read_files(folder / name).to_pylist():
            found[row["fh"]].append(row)
        return found

    def unmarked(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [{**row, "loss_nearby": None} for row in rows]

    whole, lossy = by_handle("whole"), by_handle("lossy")
    marked = {fh for fh, rows in lossy.items() if any(row["loss_nearby"] for row in rows)}
    differ = {fh for fh in lossy if unmarked(lossy[fh]) != unmarked(whole.get(fh, []))}
    assert len(differ) > 50
    assert len(differ & marked) >= 0.95 * len(differ)
    assert marked < lossy.keys()


def test_operations_in_parquet_tell_only_of_calls_without_a_reply(
    folder: Path, tmp_path: Path
) -> None:
    table = read_table(folder / "lossy", "operations")
    assert table["reply_time"].null_count > 0
    path = tmp_path / "operations.parquet"
    pq.write_table(table, path)
    summary = ingest([path], tmp_path / "again")
    assert summary.loss is None
    assert read_table(tmp_path / "again", "loss").num_rows == 0
    assert set(read_files(tmp_path / "again")["loss_nearby"].to_pylist()) == {True, None}


def test_ingest_prints_how_much_was_lost_and_when_most(folder: Path, tmp_path: Path) -> None:
    path = folder / "lossy.pcap"
    result = CliRunner().invoke(app, ["ingest", str(path), "--out", str(tmp_path / "out")])
    line = next(line for line in result.output.splitlines() if line.startswith("loss"))
    (period,) = set(read_table(folder / "lossy", "loss")["time"].to_pylist())
    share = line.split()[1]
    assert line == (
        f"loss      {share} of messages estimated lost; worst: {share} in the five minutes"
        f" from {period:%Y-%m-%d %H:%M}"
    )


def loss_rows(*rows: tuple[int, int, float]) -> pa.RecordBatch:
    """Rows of the loss table with a time in minutes, messages seen, and messages lost."""
    table = pa.Table.from_pylist(
        [
            {
                "time": minutes * 60_000_000,
                "server": "s",
                "client": "c",
                "calls": seen,
                "lost": lost,
                "fraction": 0.0,
                **dict.fromkeys(["replies", "unanswered", "orphans", "holes"], 0),
                "missing_bytes": 0,
            }
            for minutes, seen, lost in rows
        ],
        schema=LOSS,
    )
    return table.to_batches()[0]


def test_the_worst_period_is_one_with_messages_enough_to_tell() -> None:
    losses = Losses()
    assert losses.estimate() is None
    losses.add(loss_rows((0, 10, 5), (5, 5000, 50), (10, 4000, 8)))
    losses.add(loss_rows((10, 4000, 8)))
    estimate = losses.estimate()
    assert estimate is not None
    assert (estimate.seen, estimate.lost) == (13_010, 71)
    assert estimate.worst_period == 5 * 60_000_000
    assert estimate.worst_fraction == 50 / 5050


def test_a_trace_of_text_tells_of_numbers_that_were_passed_over(tmp_path: Path) -> None:
    lines = []
    for number in range(40):
        call = f"{1000 + number / 10:.6f} 31.03ff 30.0801 T C3 {number:x} 1 getattr fh 0a"
        reply = f"{1000 + number / 10 + 0.0001:.6f} 30.0801 31.03ff T R3 {number:x} 1 getattr 70"
        if number != 20:
            lines += [f"{call} con = 1 len = 1", f"{reply} status=70 pl = 1 con = 1 len = 1"]
    path = tmp_path / "trace.txt"
    path.write_text("\n".join(lines) + "\n")
    trace = Whole(path)
    (rows,) = trace.loss
    assert rows.schema.equals(LOSS)
    (row,) = rows.to_pylist()
    assert (row["calls"], row["replies"], row["unseen"], row["lost"]) == (39, 39, 1, 2.0)
    (gap,) = pa.Table.from_batches(trace.gaps).to_pylist()
    assert (gap["since"].timestamp(), gap["until"].timestamp()) == (1001.9, 1002.1)


def test_the_estimate_of_a_real_capture_is_near_the_truth(shared: Path) -> None:
    truth = json.loads((shared / "captures" / "trouble.json").read_text())
    trace, losses = Whole(shared / "captures" / "trouble.pcap.xz"), Losses()
    for rows in trace.loss:
        losses.add(rows)
    estimate = losses.estimate()
    assert estimate is not None
    assert estimate.fraction == pytest.approx(truth["dropped"] / truth["packets"], abs=0.001)
