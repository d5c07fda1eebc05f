"""Tables written and read back, in every format."""

from __future__ import annotations

import resource
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.samples import DAYS
from birthmark.data.scan import Plan, scan
from birthmark.data.scan.inputs import CountsTable
from birthmark.data.scan.outputs import write


def read(path: Path) -> pa.Table:
    table = CountsTable(str(path))
    return pa.Table.from_batches(list(table.batches()), table.schema)


def test_csv_holds_all_that_parquet_does(folder: Path) -> None:
    assert read(folder / "counts.csv").equals(read(folder / "counts.parquet"))


def test_the_text_table_has_a_line_per_period_and_keys(folder: Path) -> None:
    names, *lines = (line.split(" ") for line in (folder / "counts.txt").read_text().splitlines())
    rows = [dict(zip(names, line, strict=True)) for line in lines]
    assert names[:6] == ["#time", "seconds", "client", "uid", "directory", "total"]
    table = pq.read_table(folder / "counts.parquet")
    keys = ["time", "client", "uid", "directory"]
    assert len(rows) == len(table.group_by(keys).aggregate([]))
    for op in ("read", "other", "create"):
        chosen = table.filter(pa.compute.equal(table["op"], op))
        assert sum(int(row[op]) for row in rows) == sum(chosen["ops"].to_pylist())
        means = sorted(float(row[f"us_{op}"]) for row in rows if row[f"us_{op}"] != "-")
        assert means == pytest.approx(sorted(chosen["latency_mean"].to_pylist()), abs=0.001)
    assert sum(int(row["total"]) for row in rows) == sum(table["ops"].to_pylist())
    assert sum(int(row["bytes_read"]) for row in rows) == sum(table["bytes_read"].to_pylist())
    assert rows[0]["#time"] == "1795239485"
    assert {row["seconds"] for row in rows} == {"5"}


def test_words_in_the_text_table_hold_no_blanks(tmp_path: Path) -> None:
    schema = pa.schema([("path", pa.utf8()), ("fh", pa.binary()), ("size", pa.uint64())])
    batch = pa.RecordBatch.from_pylist([{"path": "/a b", "fh": b"\x01\xff"}], schema)
    write(f"{tmp_path}/x.txt", schema, lambda: [batch])
    assert (tmp_path / "x.txt").read_text() == "#path fh size\n/a\\x20b 01ff -\n"


def test_duckdb_reads_parquet_and_csv_and_what_it_writes_is_read_back(
    folder: Path, tmp_path: Path
) -> None:
    query = "select sum(ops), sum(bytes_read) from '{}' where directory = '/'"
    of_csv, of_parquet = (
        duckdb.sql(query.format(folder / f"counts.{kind}")).fetchall()
        for kind in ("csv", "parquet")
    )
    assert of_csv == of_parquet
    assert of_parquet[0][0] == 104_344
    duckdb.sql(f"copy (from '{folder}/counts.parquet') to '{tmp_path}/copy.parquet'")
    assert read(tmp_path / "copy.parquet").equals(read(folder / "counts.parquet"))


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_table_that_is_none_of_counts_is_refused_by_file_and_column(
    kind: str, folder: Path, counts: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=rf"files.{kind}: column time: expected .* no such column"):
        CountsTable(str(folder / f"files.{kind}"))
    table = pq.read_table(counts)
    at = table.column_names.index("ops")
    bad = table.set_column(at, "ops", pa.array(["many"] * len(table)))
    pq.write_table(bad, tmp_path / "bad.parquet")
    with pytest.raises(ValueError, match=r"bad.parquet: column ops: expected uint64 .* string"):
        read(tmp_path / "bad.parquet")
    nulls = table.set_column(at, "ops", pa.nulls(len(table), pa.uint64()))
    pq.write_table(nulls, tmp_path / "nulls.parquet")
    with pytest.raises(ValueError, match=r"nulls.parquet: column ops: .*rows without a value"):
        read(tmp_path / "nulls.parquet")


def test_csv_that_is_damaged_is_refused(folder: Path, tmp_path: Path) -> None:
    text = (folder / "counts.csv").read_text()
    (tmp_path / "a.csv").write_text(text.replace('"lookup",', '"lookup",x', 1))
    with pytest.raises(ValueError, match=r"a.csv: is no table of counts"):
        CountsTable(f"{tmp_path}/a.csv")
    head, row = text.splitlines()[:2]
    (tmp_path / "b.csv").write_text(f"{head}\n{row.rpartition(',')[0]},12:x\n")
    with pytest.raises(ValueError, match=r"b.csv: column latency: expected pairs .* found 12:x"):
        CountsTable(f"{tmp_path}/b.csv")
    (tmp_path / "c.csv").write_bytes(b"\x00\xff\x00")
    with pytest.raises(ValueError, match=r"c.csv"):
        CountsTable(f"{tmp_path}/c.csv")
    (tmp_path / "d.csv").write_bytes(b"")
    with pytest.raises(ValueError, match=r"d.csv"):
        CountsTable(f"{tmp_path}/d.csv")


@pytest.mark.parametrize("name", ["out.parquet", "out.csv", "out.txt", "out"])
def test_a_full_disk_leaves_what_was_there(name: str, tmp_path: Path) -> None:
    if name != "out":
        (tmp_path / name).write_text("before")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            scan([DAYS[0]], tmp_path / name, Plan(100_000, ["file", "uid"]))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    left = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert [path.read_text() for path in left] == (["before"] if name != "out" else [])


def test_a_name_without_a_known_ending_is_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"x.json: expected a name that ends in .parquet"):
        scan([tmp_path / "missing"], None, files=tmp_path / "x.json")
