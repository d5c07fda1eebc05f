"""Counts of operations: against simple counting, against an independent decoder, and by hand.

Tests also data/scan/.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.scan import FILES, Plan, counts_schema, scan
from tests.builders.operations import operations

from . import oracle

SECOND = 1_000_000


def counted(traces: list[Any], tmp_path: Path, **plan: Any) -> list[dict[str, Any]]:
    """Scan and return the rows; times as µs, histograms left out."""
    scan(traces, tmp_path / "out.parquet", Plan(**plan))
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.schema.equals(counts_schema(plan.get("by", [])))
    times = table["time"].cast(pa.int64())
    return table.drop_columns("latency").set_column(0, "time", times).to_pylist()


def trace(tmp_path: Path, *rows: dict[str, Any]) -> Path:
    """Write operations with only the values that matter."""
    path = tmp_path / "trace.parquet"
    pq.write_table(operations(*rows), path)
    return path


def test_counts_bytes_and_latencies_are_those_of_simple_counting(tmp_path: Path) -> None:
    expected = oracle.by_caller()
    rows = counted([DAYS[0]], tmp_path, period=5 * SECOND, by=["client", "uid"], ops=None)
    assert len(rows) == len(expected)
    for row in rows:
        group = expected[row["time"], row["client"], row["uid"], row["op"]]
        assert row["ops"] == len(group)
        assert row["errors"] == sum(each["status"] not in (0, None) for each in group)
        assert row["unanswered"] == sum(each["reply_time"] is None for each in group)
        assert row["retransmits"] == sum(each["retransmits"] for each in group)
        done = [each["reply_count"] for each in group if each["status"] == 0]
        assert row["bytes_read"] == (sum(done) if row["op"] == "read" else 0)
        assert row["bytes_written"] == (sum(done) if row["op"] == "write" else 0)
        took = [each["reply_time"] - each["time"] for each in group if each["reply_time"]]
        assert (row["latency_sum"], row["latency_max"]) == (sum(took), max(took))
        assert row["latency_mean"] == pytest.approx(np.mean(took))
        for quantile in (50, 90, 99):
            exact = np.percentile(took, quantile, method="inverted_cdf")
            assert exact <= row[f"latency_p{quantile}"] <= exact * (1 + 1 / 32)


@pytest.mark.deep
def test_a_directory_counts_all_below_it(tmp_path: Path) -> None:
    expected = oracle.by_directory()
    rows = counted([DAYS[0]], tmp_path, period=oracle.PERIOD, by=["directory"], ops=None)
    found: dict[tuple[str, str], int] = {(row["directory"], row["op"]): row["ops"] for row in rows}
    assert len({path for path, _ in found}) > 1000
    assert {key: n for key, n in found.items() if key[0] != "?"} == expected
    assert ("?", "lookup") not in found
    assert sum(n for (path, _), n in found.items() if path == "/") == 104_344


@pytest.mark.parametrize("capture", ["tiny.pcap", "section.pcap.xz"])
def test_calls_are_those_that_an_independent_decoder_counts(
    capture: str, shared: Path, tmp_path: Path
) -> None:
    facts = (shared / "captures" / f"{capture.split('.')[0]}.facts.txt").read_text()
    rows = counted([shared / "captures" / capture], tmp_path, by=["client", "uid"], ops=None)
    found: dict[str, Counter[Any]] = defaultdict(Counter)
    for row in rows:
        calls = row["ops"] + row["retransmits"]
        found["op"][row["op"].upper()] += calls
        found["client"][row["client"]] += calls
        found["uid"][str(row["uid"])] += calls
        found["errors"][row["op"].upper()] += row["errors"]
    per_uid = dict(re.findall(r"'(\d+)': (\d+)", facts.split("calls per uid:")[1].split("\n")[0]))
    per_client = dict(re.findall(r"'([\d.]+)': (\d+)", facts.split("client address:")[1]))
    table = re.findall(r"^([A-Z]+) +(\d+) +(\d+) +(\d+) +(\d+)$", facts, re.M)
    assert found["op"] == {name: int(calls) for name, calls, *_ in table}
    assert {k: n for k, n in found["uid"].items() if n} == {k: int(n) for k, n in per_uid.items()}
    assert found["client"] == {host: int(calls) for host, calls in per_client.items()}
    for name, _, _, _, errors in table:
        assert found["errors"][name] == int(errors)


def test_operations_without_rows_of_their_own_are_counted_as_other(tmp_path: Path) -> None:
    """Thesis 3.6.2: the default operations, and 4.4.6: the total counts the others as well."""
    rows = counted([DAYS[0]], tmp_path)
    assert {row["op"] for row in rows} == {
        *("read", "write", "lookup", "getattr", "access", "create", "remove", "other")
    }
    assert sum(row["ops"] for row in rows) == 104_344
    few = counted([DAYS[0]], tmp_path, ops=["fsstat"])
    assert {row["op"]: row["ops"] for row in few} == {"fsstat": 96, "other": 104_248}


def test_an_operation_counts_in_the_period_of_its_call(tmp_path: Path) -> None:
    path = trace(
        tmp_path,
        {"op": "read", "time": 9 * SECOND, "took": 2 * SECOND, "reply_count": 5},
        {"op": "read", "time": 10 * SECOND},
        {"op": "read", "time": 8 * SECOND, "took": None},  # comes a minute later
        {"op": "read", "time": 200 * SECOND},
        {"op": "read", "time": 11 * SECOND},  # very late: its period was given already
    )
    rows = counted([path], tmp_path, period=10 * SECOND)
    assert [(row["time"] // SECOND, row["ops"], row["unanswered"]) for row in rows] == [
        *((0, 2, 1), (10, 2, 0), (200, 1, 0))
    ]
    assert rows[0]["latency_sum"] == 2 * SECOND
    assert rows[0]["bytes_read"] == 5


def test_procedures_that_nobody_has_heard_of_are_counted_and_name_files(tmp_path: Path) -> None:
    path = trace(
        tmp_path,
        {"op": "fsinfo", "fh": b"r"},
        {"op": "open", "fh": b"r", "name": b"a file", "new_fh": b"f"},
        {"op": "close", "fh": b"f"},
    )
    rows = counted([path], tmp_path, by=["file"], ops=None)
    assert {(row["file"], row["op"]) for row in rows} == {
        *(("/", "fsinfo"), ("/a file", "open"), ("/a file", "close"))
    }


def test_operations_at_a_data_server_count_under_the_files_path(tmp_path: Path) -> None:
    layout = [{"fh": b"D1", "cookie": 0}, {"fh": b"D2", "cookie": 1}]
    made = [
        {"op": "fsinfo", "fh": b"r"},
        {"op": "open", "fh": b"r", "name": b"a", "new_fh": b"f"},
        {"op": "layoutget", "fh": b"f", "entries": layout, "layout_type": 4},
        {"op": "open", "fh": b"r", "name": b"b", "new_fh": b"g"},
        {"op": "layoutget", "fh": b"g", "entries": [], "layout_type": 1},
    ]
    moved = [
        {"op": "write", "fh": b"D1", "server": "d1", "reply_count": 5, "ftype": 2},
        {"op": "write", "fh": b"D2", "server": "d2", "reply_count": 5},
        {"op": "read", "fh": b"g", "server": "d1", "reply_count": 3},
        {"op": "read", "fh": b"g", "reply_count": 2},
        {"op": "read", "fh": b"other", "server": "d1"},
    ]
    rows = counted([trace(tmp_path, *made, *moved)], tmp_path, by=["file"])
    found = {(row["file"], row["op"]): row["bytes_read"] + row["bytes_written"] for row in rows}
    assert (found["/a", "write"], found["/b", "read"]) == (10, 5)
    assert len([file for file, _ in found if file.startswith("?")]) == 1
    # the file map has no file for a data server's handles
    scan(
        [tmp_path / "trace.parquet"],
        tmp_path / "out.parquet",
        Plan(by=["file"]),
        tmp_path / "map.parquet",
    )
    paths = pq.read_table(tmp_path / "map.parquet")["path"].to_pylist()
    assert {"/a", "/b"} <= set(paths)
    assert len([path for path in paths if path.startswith("?")]) == 1


def test_a_file_has_the_path_that_it_had_a_minute_after_the_period(tmp_path: Path) -> None:
    start = [
        {"op": "fsinfo", "fh": b"r"},
        {"op": "create", "fh": b"r", "name": b"new", "new_fh": b"f"},
    ]
    move = {"op": "rename", "fh": b"r", "name": b"new", "fh2": b"r", "name2": b"old"}
    for at, expected in ((69, "/old"), (70, "/new")):
        path = trace(tmp_path, *start, {**move, "time": at * SECOND, "took": 0})
        rows = counted([path], tmp_path, period=10 * SECOND, by=["file"])
        assert [row["file"] for row in rows if row["op"] == "create"] == [expected]


def test_files_of_unknown_place_are_counted_under_a_question_mark(tmp_path: Path) -> None:
    path = trace(
        tmp_path,
        {"op": "null", "fh": None},
        {"op": "read", "fh": b"f"},
        {"op": "lookup", "fh": b"d", "name": b"n", "new_fh": b"g"},
        {"op": "read", "fh": b"g"},
        {"op": "lookup", "fh": b"d", "name": b"m", "status": 2},
    )
    rows = counted([path], tmp_path, by=["directory"], ops=None)
    (place,) = {row["directory"] for row in rows} - {"?"}
    assert re.fullmatch(r"\?/[0-9a-f]{16}", place)
    assert {(row["directory"], row["op"]): row["ops"] for row in rows} == {
        ("?", "null"): 1,
        ("?", "read"): 2,
        ("?", "lookup"): 2,
        (place, "lookup"): 2,
        (place, "read"): 1,
    }


def test_only_those_asked_for_are_counted(tmp_path: Path) -> None:
    path = trace(
        tmp_path,
        *(
            {"op": "read", "client": c, "uid": u, "gid": g}
            for c in "ab"
            for u in (0, None)
            for g in (1, 2)
        ),
    )
    assert sum(row["ops"] for row in counted([path], tmp_path)) == 8
    assert sum(row["ops"] for row in counted([path], tmp_path, clients=["a"])) == 4
    assert sum(row["ops"] for row in counted([path], tmp_path, uids=[0], gids=[2, 3])) == 2
    (row,) = counted([path], tmp_path, by=["uid"], clients=["b"], uids=[0])
    assert (row["uid"], row["ops"]) == (0, 2)


def test_a_write_of_version_2_counts_what_the_call_asked_for(tmp_path: Path) -> None:
    path = trace(tmp_path, {"op": "write", "version": 2, "count": 100})
    assert counted([path], tmp_path)[0]["bytes_written"] == 100


def test_a_dataset_counts_as_the_traces_that_it_was_made_of(tmp_path: Path) -> None:
    ingest([DAYS[0]], tmp_path / "dataset")
    of_dataset = counted([tmp_path / "dataset"], tmp_path, period=SECOND, by=["server", "gid"])
    assert of_dataset == counted([DAYS[0]], tmp_path, period=SECOND, by=["server", "gid"])


def test_text_counts_as_the_operations_that_are_ingested_from_it(tmp_path: Path) -> None:
    line = "{}.5 {} U {}3 {:x} 1 getattr {} fh {:04x} con = XXX len = XXX\n"
    text = "".join(
        line.format(100 + i, "31.03f7 30.0801", "C", i, "", i)
        + line.format(100 + i, "30.0801 31.03f7", "R", i, "OK", i).replace(" fh", " ftype 1 fh")
        for i in range(50)
    )
    (tmp_path / "trace.txt").write_text(text + "XX Funny line (1)\n")
    summary = scan([tmp_path / "trace.txt"], tmp_path / "out.csv", Plan(by=["client"]))
    assert (summary.operations, summary.rows) == (50, 1)
    assert summary.records_set_aside == {"funny-line": 1}


def test_the_map_says_what_was_last_seen_of_each_file(tmp_path: Path) -> None:
    path = trace(
        tmp_path,
        {"op": "fsinfo", "fh": b"r", "ftype": 2},
        {
            "op": "create", "fh": b"r", "name": b"f", "new_fh": b"f", "time": 1,
            "ftype": 1, "mode": 0o644, "owner": 5, "group": 6, "size": 0, "dir_size": 9,
        },
        {"op": "write", "fh": b"f", "time": 2, "size": 8, "mtime": 7},
        {"op": "remove", "fh": b"r", "name": b"f", "time": 3, "dir_size": 8},
        {"op": "read", "fh": b"x", "time": 4, "status": 70},
    )  # fmt: skip
    scan([path], None, files=tmp_path / "files.parquet")
    table = pq.read_table(tmp_path / "files.parquet")
    assert table.schema.equals(FILES)
    root, file, unknown = table.to_pylist()
    assert (root["path"], root["kind"], root["size"]) == ("/", "directory", 8)
    assert (file["path"], file["gone"], file["fh"], file["kind"]) == ("/f", True, b"f", "file")
    assert (file["mode"], file["owner"], file["group"], file["size"]) == (0o644, 5, 6, 8)
    assert [file[name] and file[name].microsecond for name in ("mtime", "ctime", "seen")] == [
        *(7, None, 12)
    ]
    assert unknown["path"].startswith("?/")
    assert unknown["kind"] is None


def test_the_map_is_whole_however_little_of_it_fits_into_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan([DAYS[0]], None, files=tmp_path / "all.parquet")
    monkeypatch.setattr("birthmark.data.scan.files.WAITING", 500)
    monkeypatch.setattr("birthmark.data.scan.files.AT_ONCE", 1000)
    summary = scan([DAYS[0]], None, files=tmp_path / "parts.parquet")
    whole, parts = (pq.read_table(tmp_path / f"{n}.parquet") for n in ("all", "parts"))
    assert summary.files == len(whole) == 10_014
    assert parts.sort_by([("path", "ascending"), ("fh", "ascending")]).equals(
        whole.sort_by([("path", "ascending"), ("fh", "ascending")])
    )


def test_a_table_without_a_needed_column_is_refused_by_name(tmp_path: Path) -> None:
    pq.write_table(pq.read_table(DAYS[0]).drop_columns("client"), tmp_path / "bad.parquet")
    scan([tmp_path / "bad.parquet"], tmp_path / "out.csv")
    with pytest.raises(ValueError, match=r"bad.parquet: column client: expected dict.*no such"):
        scan([tmp_path / "bad.parquet"], tmp_path / "out2.csv", Plan(by=["client"]))
    assert not (tmp_path / "out2.csv").exists()


def test_a_column_younger_than_the_file_is_empty(tmp_path: Path) -> None:
    pq.write_table(pq.read_table(DAYS[0]).drop_columns("uid"), tmp_path / "old.parquet")
    (row,) = counted([tmp_path / "old.parquet"], tmp_path, by=["uid"], ops=[])
    assert (row["uid"], row["ops"]) == (None, 104_344)


def test_no_table_is_left_of_a_scan_that_fails(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "not.txt").write_bytes(b"\x01\x02 no trace")
    with pytest.raises(ValueError, match="no trace"):
        scan([DAYS[0], tmp_path / "not.txt"], tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
