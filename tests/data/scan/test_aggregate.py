"""Sums of counts equal those of a scan with the same keys and periods."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data.samples import DAYS
from birthmark.data.scan import Plan, scan
from birthmark.data.scan.aggregate import aggregate
from birthmark.data.scan.inputs import CountsTable

ORDER = ["time", "client", "uid", "directory", "op"]


def ordered(path: Path) -> pa.Table:
    table = pq.read_table(path)
    return table.sort_by([(name, "ascending") for name in ORDER if name in table.column_names])


@pytest.mark.parametrize("kind", ["parquet", "csv"])
@pytest.mark.parametrize("by", [["client", "directory"], ["uid"], []])
def test_sums_are_what_a_scan_with_fewer_keys_and_wider_periods_gives(
    by: list[str], kind: str, folder: Path, tmp_path: Path
) -> None:
    aggregate(CountsTable(str(folder / f"counts.{kind}")), f"{tmp_path}/a.parquet", by, 30_000_000)
    scan([DAYS[0]], tmp_path / "b.parquet", Plan(30_000_000, by))
    assert ordered(tmp_path / "a.parquet").equals(ordered(tmp_path / "b.parquet"))


def test_one_period_may_hold_all(counts: str, tmp_path: Path) -> None:
    aggregate(CountsTable(counts), f"{tmp_path}/a.parquet", [], "all")
    rows = pq.read_table(tmp_path / "a.parquet")
    assert rows["seconds"].unique().to_pylist() == [75.0]  # 05:38:05 to 05:39:20
    assert len(rows["time"].unique()) == 1
    assert sum(rows["ops"].to_pylist()) == 104_344


def test_keys_and_periods_do_not_change_by_default(counts: str, tmp_path: Path) -> None:
    aggregate(CountsTable(counts), f"{tmp_path}/a.parquet")
    assert ordered(tmp_path / "a.parquet").equals(ordered(Path(counts)))


def test_row_groups_may_come_in_any_order_and_share_periods(counts: str, tmp_path: Path) -> None:
    table = pq.read_table(counts)
    with pq.ParquetWriter(tmp_path / "mixed.parquet", table.schema) as writer:
        for start in reversed(range(10)):
            writer.write_table(table.take(list(range(start, len(table), 10))))
    aggregate(CountsTable(f"{tmp_path}/mixed.parquet"), f"{tmp_path}/a.parquet", ["client"])
    aggregate(CountsTable(counts), f"{tmp_path}/b.parquet", ["client"])
    a = pq.read_table(tmp_path / "a.parquet")
    assert a["time"].to_pylist() == sorted(a["time"].to_pylist())
    assert ordered(tmp_path / "a.parquet").equals(ordered(tmp_path / "b.parquet"))


def test_a_period_that_the_tables_do_not_fit_into_is_refused(counts: str) -> None:
    with pytest.raises(ValueError, match=r"counts.parquet: its periods are 5 s long.* found 12 s"):
        aggregate(CountsTable(counts), "-", None, 12_000_000)


def test_a_key_that_was_not_scanned_by_is_refused(counts: str) -> None:
    with pytest.raises(ValueError, match=r"no column gid: scan .* --by client,uid,directory,gid"):
        aggregate(CountsTable(counts), "-", ["gid"])
