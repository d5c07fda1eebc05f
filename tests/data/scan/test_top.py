"""The busiest values, as in the thesis's Tables 4.3 and 4.4."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from birthmark.data.samples import DAYS
from birthmark.data.scan import Plan, scan
from birthmark.data.scan.inputs import CountsTable
from birthmark.data.scan.top import top, write_rows

from . import oracle


def test_the_busiest_users_are_those_of_simple_counting(counts: str) -> None:
    rows = oracle.rows(["uid", "op", "reply_count"])
    ops, reads = (
        Counter(r["uid"] for r in rows),
        Counter(r["uid"] for r in rows if r["op"] == "read"),
    )
    total, *busiest = top(CountsTable(counts), ["uid"], 3).to_pylist()
    assert [(row["uid"], row["ops"]) for row in busiest] == ops.most_common(3)
    assert [row["read"] for row in busiest] == [reads[row["uid"]] for row in busiest]
    assert (total["uid"], total["ops"]) == (None, 104_344)
    assert total["ops"] == total["read"] + total["write"] + total["other"]


def test_the_cost_is_accesses_and_an_eighth_of_the_blocks_of_8_kib(counts: str) -> None:
    """Thesis 6.2."""
    by_cost = top(CountsTable(counts), ["client"], 5, "cost").to_pylist()[1:]
    assert [row["cost"] for row in by_cost] == sorted((r["cost"] for r in by_cost), reverse=True)
    for row in by_cost:
        moved = row["bytes_read"] + row["bytes_written"]
        assert row["cost"] == pytest.approx(row["other"] + 0.125 * moved / 8192)
        assert row["bytes"] == moved


def test_directories_hold_each_other_but_the_total_counts_once(counts: str) -> None:
    total, first, second = top(CountsTable(counts), ["directory"], 2).to_pylist()
    assert (first["directory"], first["ops"], total["ops"]) == ("/", 104_344, 104_344)
    assert second["directory"] == "/home"


def test_the_rows_of_the_busiest_can_be_written(counts: str, tmp_path: Path) -> None:
    table = CountsTable(counts)
    busiest = top(table, ["client", "uid"], 2)
    write_rows(table, f"{tmp_path}/busy.parquet", busiest, ["client", "uid"])
    rows = pq.read_table(tmp_path / "busy.parquet").to_pylist()
    assert {(r["client"], r["uid"]) for r in rows} == {("127.0.0.11", 1001), ("127.0.0.11", 1002)}
    assert sum(r["ops"] for r in rows if r["directory"] == "/") == sum(
        row["ops"] for row in busiest.to_pylist()[1:]
    )


def test_a_table_that_does_not_count_reads_apart_is_refused(tmp_path: Path) -> None:
    scan([DAYS[0]], tmp_path / "few.parquet", Plan(ops=["write"]))
    with pytest.raises(ValueError, match=r"few.parquet: column op: read is not counted apart"):
        top(CountsTable(f"{tmp_path}/few.parquet"), [], 1)


def test_an_empty_table_has_no_busiest(counts: str, tmp_path: Path) -> None:
    pq.write_table(pq.read_table(counts).slice(0, 0), tmp_path / "none.parquet")
    (total,) = top(CountsTable(f"{tmp_path}/none.parquet"), ["uid"], 5).to_pylist()
    assert total["ops"] == 0
