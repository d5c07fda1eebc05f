"""The numbers of ``birthmark top`` are those of ``birthmark scan``.

Tests also data/top/.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from birthmark.data.common.durations import SECOND
from birthmark.data.samples import DAYS
from birthmark.data.scan import Plan, scan
from birthmark.data.scan.aggregate import aggregate
from birthmark.data.scan.inputs import CountsTable
from birthmark.data.scan.top import top
from birthmark.data.scan.words import key as column
from birthmark.data.settings import Counting, Ranked, TopKey
from birthmark.data.top.load import KEYS, LiveCounts, Row, Snapshot
from birthmark.data.top.sums import PATHS, Evicted
from birthmark.data.top.whole import read
from tests.builders.operations import operations

ALL = 1 << 30
DAY = str(DAYS[0])
ORDERS: tuple[Ranked, ...] = get_args(Ranked)
AMOUNT: dict[Ranked, Callable[[Row], float]] = {
    "ops": lambda row: row.ops,
    "bytes": lambda row: row.bytes_read + row.bytes_written,
    "read": lambda row: row.bytes_read,
    "written": lambda row: row.bytes_written,
    "errors": lambda row: row.errors,
}
SUMS = ("ops", "errors", "bytes_read", "bytes_written")


@pytest.fixture(scope="module")
def load() -> LiveCounts:
    return read([DAY])[0]


@pytest.fixture(scope="module")
def day() -> pa.Table:
    """Return the operations of the first bundled day, in the order of their replies."""
    return pq.read_table(DAY)


def sums(row: Row) -> tuple[int, ...]:
    return tuple(getattr(row, name) for name in SUMS)


@pytest.mark.parametrize("key", KEYS)
def test_the_rows_of_a_whole_trace_are_those_of_scan_top(
    load: LiveCounts, key: TopKey, tmp_path: Path
) -> None:
    scan([DAY], tmp_path / "counts.parquet", Plan(by=[column(key)]))
    counts = CountsTable(f"{tmp_path}/counts.parquet")
    total, *expected = top(counts, [column(key)], ALL).to_pylist()
    seen = load.whole("ops", ALL)
    wanted = {row[column(key)]: tuple(row[name] for name in SUMS) for row in expected}
    found = {row.name: sums(row) for row in seen.rows[key]}
    assert found.items() <= wanted.items()
    assert key == "directory" or found == wanted
    assert sums(seen.total) == tuple(total[name] for name in SUMS)


def test_latencies_of_a_whole_trace_are_those_of_a_scan(load: LiveCounts, tmp_path: Path) -> None:
    """Quantiles of all operations together, which a scan counts as other if none is apart."""
    scan([DAY], tmp_path / "counts.parquet", Plan(by=["client"], ops=[]))
    counts = CountsTable(f"{tmp_path}/counts.parquet")
    aggregate(counts, f"{tmp_path}/all.parquet", [], "all")
    aggregate(counts, f"{tmp_path}/by.parquet", ["client"], "all")
    (whole,) = pq.read_table(tmp_path / "all.parquet").to_pylist()
    by = pq.read_table(tmp_path / "by.parquet").to_pylist()
    seen = load.whole("ops", ALL)
    assert seen.total.latency_mean == pytest.approx(whole["latency_mean"])
    assert seen.total.latency_p99 == whole["latency_p99"]
    means = {row["client"]: row["latency_mean"] for row in by}
    assert {r.name: r.latency_mean for r in seen.rows["client"]} == pytest.approx(means)


def test_a_row_has_its_most_frequent_operation(load: LiveCounts, day: pa.Table) -> None:
    own = day.filter(pc.equal(day["uid"], 1006))
    counts = own["op"].cast(pa.utf8()).value_counts().to_pylist()
    most = max(counts, key=lambda each: each["counts"])["values"]
    (row,) = [row for row in load.whole("ops", ALL).rows["user"] if row.name == 1006]
    assert row.mostly == most


@pytest.mark.parametrize("order", [order for order in ORDERS if order != "latency"])
def test_rows_are_ordered_and_the_first_are_the_busiest_of_all(
    load: LiveCounts, order: Ranked
) -> None:
    for key in KEYS:
        every = load.whole(order, ALL).rows[key]
        amounts = [AMOUNT[order](row) for row in every]
        assert amounts == sorted(amounts, reverse=True)
        assert load.whole(order, 3).rows[key] == every[:3]


def test_by_latency_those_of_few_replies_come_behind_the_others(load: LiveCounts) -> None:
    rows = load.whole("latency", ALL).rows["file"]
    many = [row.ops - row.unanswered >= 10 for row in rows]
    assert many == sorted(many, reverse=True)
    means = [row.latency_mean or 0 for row, telling in zip(rows, many, strict=True) if telling]
    assert means == sorted(means, reverse=True)
    assert means


def test_only_operations_of_those_asked_for_are_counted(day: pa.Table) -> None:
    only, _ = read([DAY], Counting(user="1002", client="127.0.0.11"))
    wanted = day.filter(
        pc.and_(pc.equal(day["uid"], 1002), pc.equal(day["client"].cast(pa.utf8()), "127.0.0.11"))
    )
    seen = only.whole("ops", ALL)
    assert seen.total.ops == len(wanted)
    assert [row.name for row in seen.rows["user"]] == [1002]


def test_a_directory_is_left_out_where_nearly_all_is_done_in_one_below(load: LiveCounts) -> None:
    names = [str(row.name) for row in load.whole("ops", ALL).rows["directory"]]
    venv = "/home/ben/py/venv-b"
    assert f"{venv}/lib/python3.11/site-packages" in names
    assert not {venv, f"{venv}/lib", f"{venv}/lib/python3.11", "/"} & {*names}
    assert "/home" in names
    assert "/home/ben" in names


def live(day: pa.Table, reach: int = 60 * SECOND, step: int = 4999) -> LiveCounts:
    """Return a load that took a day piece by piece, and was shown repeatedly."""
    load = LiveCounts(reach=reach)
    for at in range(0, len(day), step):
        load.update(day.slice(at, step).combine_chunks().to_batches())
        assert load.last is not None
        load.look_at(load.last - 10 * SECOND, load.last)
    load.finish()
    return load


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("step", [499, 4999])
def test_live_all_sums_are_in_the_end_those_of_a_scan_by_the_second(
    day: pa.Table, key: TopKey, step: int, tmp_path: Path
) -> None:
    """This includes paths that were unknown when operations were first seen, and renamed files."""
    seen = live(day, step=step).whole("ops", ALL)
    scan([DAY], tmp_path / "counts.parquet", Plan(period=SECOND, by=[column(key)]))
    counts = CountsTable(f"{tmp_path}/counts.parquet")
    total, *expected = top(counts, [column(key)], ALL).to_pylist()
    wanted = {row[column(key)]: tuple(row[name] for name in SUMS) for row in expected}
    found = {row.name: sums(row) for row in seen.rows[key]}
    assert found.items() <= wanted.items()
    assert key == "directory" or found == wanted
    assert sums(seen.total) == tuple(total[name] for name in SUMS)


def played(*rows: dict[str, Any], most: int = ALL) -> LiveCounts:
    """Return a load that took operations one by one, and was shown after each."""
    load = LiveCounts(reach=60 * SECOND, most=most)
    for batch in operations(*rows).to_batches(max_chunksize=1):
        load.update([batch])
        assert load.last is not None
        load.look_at(load.last - 10 * SECOND, load.last + SECOND)
        load.catch_up(load.last)
    return load


def paths(load: LiveCounts) -> dict[TopKey, dict[Any, int]]:
    """Return the operations by path, since the start, and the same of the last ten seconds."""
    whole, recent = load.whole("ops", ALL), load.recent("ops", ALL)
    assert whole.rows == recent.rows
    own: tuple[TopKey, ...] = ("directory", "file")
    return {key: {row.name: row.ops for row in whole.rows[key]} for key in own}


def test_live_earlier_operations_move_to_a_path_when_it_becomes_known() -> None:
    """A client that mounted before the capture began looks up nothing until its cache is old."""
    reads = [{"op": "read", "fh": b"f", "time": at} for at in range(3)]
    found = {"op": "lookup", "fh": b"d", "name": b"f", "new_fh": b"f", "time": 4}
    above = {"op": "lookup", "fh": b"r", "name": b"d", "new_fh": b"d", "time": 5}
    mount = {"op": "fsinfo", "fh": b"r", "time": 6}
    (unknown,) = paths(played(*reads))["file"].items()
    assert re.fullmatch(r"\?/[0-9a-f]{16}", str(unknown[0]))
    assert unknown[1] == 3
    partly = paths(played(*reads, found, above))["file"]
    assert [str(name).split("/")[2:] for name in partly] == [["d", "f"], ["d"]]
    whole = paths(played(*reads, found, above, mount))
    assert whole["file"] == {"/d/f": 4, "/d": 1, "/": 1}
    assert whole["directory"] == {"/": 6, "/d": 5}


@pytest.mark.parametrize(("at", "expected"), [(60, "/old"), (61, "/new")])
def test_live_a_file_has_the_path_that_it_had_a_minute_after_the_second(
    at: int, expected: str
) -> None:
    """The same as `scan`'s own test, with periods of a second."""
    load = played(
        {"op": "fsinfo", "fh": b"r"},
        {"op": "create", "fh": b"r", "name": b"new", "new_fh": b"f"},
        {"op": "rename", "fh": b"r", "name": b"new", "fh2": b"r", "name2": b"old"}
        | {"time": at * SECOND, "took": 0},
    )
    rows = load.whole("ops", ALL).rows["file"]
    assert {row.name: row.ops for row in rows} == {"/": 2, expected: 1}


def test_memory_for_files_is_bounded() -> None:
    """The least active values are evicted first, except those that may still be shown."""
    most = 20
    busy = [{"op": "read", "fh": b"b"} for _ in range(5)]
    names = [f"f{number}".encode() for number in range(1000)]
    many = [
        {"op": "lookup", "fh": b"r", "name": name, "new_fh": name, "time": (at + 1) * 10 * SECOND}
        for at, name in enumerate(names)
    ]
    start = [
        {"op": "fsinfo", "fh": b"r"},
        {"op": "lookup", "fh": b"r", "name": b"busy", "new_fh": b"b"},
    ]
    load = played(*start, *busy, *many, most=most)
    assert max(load.held.values()) <= 2 * most
    assert load.known <= PATHS * most
    whole = load.whole("ops", 1000)
    assert whole.total.ops == 1007
    assert whole.rows["user"][0].ops == 1007
    assert {row.name: row.ops for row in whole.rows["file"]}["/busy"] == 6
    evicted = whole.evicted["file"]
    assert evicted.values == 1002 - len(whole.rows["file"])
    assert whole.evicted["user"] == Evicted()
    recent = load.recent("ops", 1000)
    assert [(row.name, row.ops) for row in recent.rows["file"]] == [("/f998", 1), ("/f999", 1)]


def test_memory_for_hosts_is_bounded() -> None:
    """Each client mounts a server of its own."""
    most = 20
    mounts = [
        {"op": "fsinfo", "fh": b"r", "server": f"10.1.{n}", "client": f"10.2.{n}"}
        | {"time": n * 10 * SECOND}
        for n in range(1000)
    ]
    load = played(*mounts, most=most)
    assert load.known <= 2 * PATHS * most
    whole = load.whole("ops", 1000)
    assert whole.total.ops == 1000
    assert whole.evicted["client"].values + len(whole.rows["client"]) == 1000


def test_a_repeatedly_evicted_file_has_a_bounded_error() -> None:
    """It is used repeatedly, each time after it was evicted."""
    start: list[dict[str, Any]] = [{"op": "read", "fh": b"busiest"} for _ in range(50)]
    again: list[dict[str, Any]] = []
    for at in range(5):
        again += 2 * [{"op": "read", "fh": b"often", "time": at * 1000 * SECOND}]
        for number in range(40):
            other = f"{at} {number}".encode()
            again.append({"op": "read", "fh": other, "time": (at * 1000 + number * 10) * SECOND})
    load, once = played(*start, *again, most=20), played(*start, *again)
    (name,) = [row.name for row in once.whole("ops", 2).rows["file"] if row.ops == 10]
    assert once.whole("ops", 2).evicted["file"] == Evicted()
    whole = load.whole("ops", ALL)
    found = {row.name: row.ops for row in whole.rows["file"]}
    assert max(found.values()) == 50
    assert whole.evicted["file"].ops == 2
    assert found.get(name, 0) < 10 <= found.get(name, 0) + 5 * whole.evicted["file"].ops


def test_an_evicted_path_is_known_again_after_a_lookup() -> None:
    """Only busy files may stay beyond the most recently used ones."""
    look = {"op": "lookup", "fh": b"r", "name": b"f", "new_fh": b"f"}
    others = [{"op": "read", "fh": f"{n}".encode(), "time": n * 100 * SECOND} for n in range(200)]
    after = {"time": 20_000 * SECOND}
    load = played({"op": "fsinfo", "fh": b"r"}, look, *others, most=10)
    assert load.whole("ops", 1).evicted["file"].paths > 100
    assert load.known <= 10 * PATHS
    read = {"op": "read", "fh": b"f"} | after
    (row,) = of_last(played({"op": "fsinfo", "fh": b"r"}, look, *others, read, most=10))
    assert str(row.name).startswith("?/")
    (row,) = of_last(
        played({"op": "fsinfo", "fh": b"r"}, look, *others, read, look | after, most=10)
    )
    assert (row.name, row.ops) == ("/f", 2)


def of_last(load: LiveCounts) -> list[Row]:
    return load.recent("ops", ALL).rows["file"]


@pytest.mark.parametrize("length", [1, 10, 33])
def test_a_stretch_is_the_sum_of_its_seconds_in_a_scan(day: pa.Table, length: int) -> None:
    load = LiveCounts(reach=60 * SECOND)
    load.update(day.combine_chunks().to_batches())
    assert load.first is not None
    for since in range(load.first, load.first + 60 * SECOND, 7 * SECOND):
        load.look_at(since, since + length * SECOND)
        check(load.recent("ops", ALL), day)


def test_a_stretch_may_go_back_and_become_longer(day: pa.Table) -> None:
    load = live(day)
    assert load.last is not None
    for back, length in ((20, 5), (30, 25), (10, 10), (40, 1), (40, 40)):
        until = load.last - back * SECOND // 2
        load.look_at(until - length * SECOND, until)
        check(load.recent("ops", ALL), day)


def check(seen: Snapshot, day: pa.Table) -> None:
    """Compare a snapshot with the operations themselves."""
    times = day["time"].cast(pa.int64())
    inside = pc.and_(pc.greater_equal(times, seen.since), pc.less(times, seen.until))
    rows = day.filter(inside)
    assert seen.since % SECOND == seen.until % SECOND == 0
    assert seen.total.ops == len(rows)
    assert seen.total.errors == pc.sum(pc.greater(rows["status"], 0)).as_py()
    users = {each["values"]: each["counts"] for each in rows["uid"].value_counts().to_pylist()}
    assert {row.name: row.ops for row in seen.rows["user"]} == users
    clients = rows["client"].cast(pa.utf8()).value_counts().to_pylist()
    wanted = {each["values"]: each["counts"] for each in clients}
    assert {row.name: row.ops for row in seen.rows["client"]} == wanted
    assert sum(row.ops for row in seen.rows["file"]) == len(rows)


def test_stretches_that_follow_each_other_add_up_to_the_whole(day: pa.Table) -> None:
    load = LiveCounts(reach=120 * SECOND)
    load.update(day.combine_chunks().to_batches())
    assert load.first is not None
    assert load.last is not None
    totals = []
    for since in range(load.first // SECOND * SECOND, load.last + 1, SECOND):
        load.look_at(since, since + SECOND)
        totals.append(sums(load.recent("ops", 1).total))
    assert tuple(map(sum, zip(*totals, strict=True))) == sums(load.whole("ops", 1).total)


def test_counts_beyond_the_reach_of_windows_are_evicted(day: pa.Table) -> None:
    load = live(day, reach=10 * SECOND)
    assert load.first is not None
    load.look_at(load.first, load.first + 5 * SECOND)
    assert load.recent("ops", ALL).total.ops == 0


def test_hidden_views_are_caught_up_one_by_one(day: pa.Table) -> None:
    """Otherwise a display would wait for all views, or counts would fill the memory."""
    load = LiveCounts(reach=60 * SECOND)
    load.update(day.combine_chunks().to_batches())
    assert load.first is not None
    until = load.first // SECOND * SECOND + 20 * SECOND
    load.look_at(until - 10 * SECOND, until, ["user"])
    behind = []
    for _ in range(5):
        behind.append(load.behind(until))
        load.catch_up(until)
    assert behind == [3, 2, 1, 0, 0]
    load.catch_up(until + 5 * SECOND)
    assert load.behind(until + 6 * SECOND) == 5
    load.catch_up(until + 6 * SECOND)
    assert load.behind(until + 6 * SECOND) == 4
    load.look_at(until - 10 * SECOND, until)
    check(load.recent("ops", ALL), day)


def test_no_operations_have_no_rows() -> None:
    load = LiveCounts(reach=SECOND)
    load.update([])
    load.look_at(0, SECOND)
    seen = load.recent("bytes", 5)
    assert (seen.total.ops, seen.total.latency_mean) == (0, None)
    assert all(rows == [] for rows in seen.rows.values())
    assert load.whole("ops", 5).total.ops == 0
