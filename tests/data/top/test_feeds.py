"""Feeds: operations from pipes, and from traces at their own pace."""

from __future__ import annotations

import lzma
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.common.durations import SECOND
from birthmark.data.samples import DAYS
from birthmark.data.scan import Plan, scan, words
from birthmark.data.top import feeds
from birthmark.data.top.feeds import UNENDING, Feed, Played, Traffic
from birthmark.data.top.load import KEYS, LiveCounts
from birthmark.data.top.watch import Watch
from birthmark.data.top.whole import read
from birthmark_native import Follower
from tests.waiting import eventually

DAY = str(DAYS[0])


def watch(feed: Feed, load: LiveCounts) -> Watch:
    """Poll to the end; every operation is counted."""
    watched = Watch(load, feed)
    while not feed.ended:
        watched.poll()
        watched.go_on()
    watched.poll()
    watched.go_on()
    return watched


def test_a_trace_is_played_whole_and_its_time_goes_on_at_its_pace() -> None:
    load = LiveCounts(reach=SECOND)
    feed = Played([DAY], load.columns, pace=50)
    watched = Watch(load, feed)
    clocks = []
    while not feed.ended:
        watched.poll()
        clocks.append(feed.clock)
        assert load.last is None or load.last <= (feed.clock or 0)
    assert clocks == sorted(clocks)
    seen = watched.seen(None, "ops", 3)
    watched.go_on()
    assert (load.operations, watched.seen(None, "ops", 3).total.ops) == (104_344, 104_344)
    assert seen.rows.keys() == {"user", "client", "directory", "file"}


@pytest.mark.parametrize("name", ["tiny.pcap", "section.pcap.xz"])
def test_traffic_of_a_pipe_is_in_the_end_counted_as_a_scan_does(
    shared: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All sums, of paths too, although the view changes while the traffic passes."""
    monkeypatch.setattr(feeds, "GATHER", 0.0)
    content = (shared / "captures" / name).read_bytes()
    capture = tmp_path / "capture.pcap"
    capture.write_bytes(lzma.decompress(content) if name.endswith("xz") else content)
    source, sink = os.pipe()
    load = LiveCounts(reach=10 * SECOND)
    feed = Traffic(f"/dev/fd/{source}")
    watched = Watch(load, feed)
    looked = []
    with sent(capture, sink) as look:
        while not feed.ended:
            before = load.operations
            watched.poll()
            watched.go_on()
            if load.operations > before:
                watched.seen(SECOND, "ops", 3, [KEYS[len(looked) % len(KEYS)]])
                looked.append(load.operations)
                look.set()
            watched.catch_up()
    os.close(source)
    assert len(looked) > len(KEYS)
    seen = watched.seen(None, "ops", 100_000)
    assert seen.total == read([str(capture)])[0].whole("ops", 1).total
    for key in KEYS:
        rows = scanned(capture, words.key(key), tmp_path)
        found = {row.name: (row.ops, row.errors) for row in seen.rows[key]}
        assert found.items() <= rows.items()
        assert key == "directory" or found == rows


@contextmanager
def sent(capture: Path, sink: int) -> Iterator[threading.Event]:
    """Write a capture into a pipe and close it: a piece, and after it was shown the next."""
    looked = threading.Event()

    def send() -> None:
        content = capture.read_bytes()
        step = min(len(content) // 7, 1 << 20)
        for at in range(0, len(content), step):
            os.write(sink, content[at : at + step])
            looked.wait(1)  # a piece that ends no operation shows nothing
            looked.clear()
        os.close(sink)

    sender = threading.Thread(target=send)
    sender.start()
    yield looked
    sender.join()


def scanned(capture: Path, key: str, folder: Path) -> dict[Any, tuple[int, int]]:
    """Return the operations and errors by a key, as counted by a scan with periods of a second."""
    out = folder / "counts.parquet"
    scan([capture], out, Plan(period=SECOND, by=[key]))
    table = pq.read_table(out).group_by(key).aggregate([("ops", "sum"), ("errors", "sum")])
    return {row[key]: (row["ops_sum"], row["errors_sum"]) for row in table.to_pylist()}


@pytest.mark.parametrize(("gather", "wait"), [(3600.0, 0.2), (0.0, 30.0)])
def test_operations_are_gathered_for_the_requested_time(
    shared: Path, gather: float, wait: float
) -> None:
    """A pipe that pauses repeatedly gives a piece each time, or a single one."""
    content = (shared / "captures" / "tiny.pcap").read_bytes()
    quarter = len(content) // 4
    source, sink = os.pipe()
    follower = Follower(f"/dev/fd/{source}", UNENDING, None, None, gather)
    os.write(sink, content[:quarter])
    first, _ = rows_within(follower, 30.0)  # it reports at once when the trace begins
    meanwhile = []
    for at in range(1, 4):
        os.write(sink, content[at * quarter : (at + 1) * quarter if at < 3 else None])
        meanwhile += rows_within(follower, wait)[0]
    os.close(sink)
    assert (len(meanwhile) >= 3) == (gather == 0)
    assert (meanwhile == []) == (gather > 0)
    catch_up, ended = list[int](), False
    while not ended:
        more, ended = rows_within(follower, 30.0)
        catch_up += more
    assert sum([*first, *meanwhile, *catch_up]) == 343
    os.close(source)


def rows_within(follower: Follower, seconds: float) -> tuple[list[int], bool]:
    """Return the number of rows in the first piece within a time, and whether it is the last."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        piece = follower.next_piece(left)
        rows = sum(map(len, piece.chunk.operations)) if piece else 0
        if piece and (rows or piece.ended):
            return [rows] if rows else [], piece.ended
    return [], False


def test_a_folder_and_a_file_are_followed_while_they_grow(shared: Path, tmp_path: Path) -> None:
    content = (shared / "captures" / "tiny.pcap").read_bytes()
    half = len(content) // 2
    for source in (tmp_path, tmp_path / "first.pcap"):
        (tmp_path / "first.pcap").write_bytes(content[:half])
        load, feed = LiveCounts(reach=SECOND), Traffic(str(source))
        watched = Watch(load, feed)
        assert eventually(lambda of=watched: of.poll() or of.load.operations)
        before = load.operations
        with (tmp_path / "first.pcap").open("ab") as file:
            file.write(content[half:])
        assert eventually(lambda of=watched: of.poll() or of.load.operations > 300)
        assert before < 300
        feed.close()


def test_a_second_is_looked_at_half_a_second_later(shared: Path) -> None:
    class Standing:
        live, ended, lost, generated = False, False, None, ()
        clock = 0

        def poll(self) -> list[pa.RecordBatch]:
            return []

        def close(self) -> None: ...

    load = LiveCounts(reach=10 * SECOND)
    load.update(pq.read_table(DAY).slice(0, 100).combine_chunks().to_batches())
    assert load.first is not None
    feed = Standing()
    watched = Watch(load, feed)  # type: ignore[arg-type]
    begins = load.first // SECOND * SECOND
    for clock, known in ((5_499_999, 4), (5_500_000, 5), (5_999_999, 5)):
        feed.clock = begins + clock
        watched.go_on()
        assert watched.until == begins + known * SECOND
    assert watched.seen(2 * SECOND, "ops", 1).seconds == 2
    assert watched.seen(60 * SECOND, "ops", 1).seconds == 5


def test_without_traffic_time_goes_on(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, sink = os.pipe()
    load = LiveCounts(reach=SECOND)
    feed = Traffic(f"/dev/fd/{source}")
    os.write(sink, (shared / "captures" / "tiny.pcap").read_bytes())
    assert eventually(lambda: load.update(feed.poll()) or load.operations > 300)
    before, now = feed.clock, time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now + 30)
    assert (feed.clock or 0) - (before or 0) >= 29 * SECOND
    monkeypatch.undo()
    os.close(sink)
    assert eventually(lambda: feed.poll() is not None and feed.ended)
    os.close(source)
    assert feed.clock == before
    feed.close()
