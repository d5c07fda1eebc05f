"""Rows selected or dropped."""

from __future__ import annotations

from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from birthmark.data.scan.inputs import CountsTable
from birthmark.data.scan.split import Condition, Rows, split
from birthmark.data.scan.words import time


def values(counts: str, tmp_path: Path, key: str, rows: Rows) -> set[object]:
    split(CountsTable(counts), f"{tmp_path}/part.parquet", rows)
    return set(pq.read_table(tmp_path / "part.parquet")[key].to_pylist())


def conditions(*texts: str) -> list[Condition]:
    return [Condition.parse(text) for text in texts]


def test_rows_with_any_of_a_keys_values_are_kept(counts: str, tmp_path: Path) -> None:
    rows = Rows(conditions("user=0,33", "uid=13", "client=127.0.0.1*"))
    assert values(counts, tmp_path, "uid", rows) == {0, 13, 33}
    rows = Rows(conditions("user=0", "client=127.0.0.15"))
    assert values(counts, tmp_path, "client", rows) == {"127.0.0.15"}
    assert values(counts, tmp_path, "uid", rows) == {0}


def test_rows_that_are_dropped_and_those_that_are_kept_are_all(counts: str, tmp_path: Path) -> None:
    chosen = conditions("op=lookup,read", "directory=/home/a*")
    split(CountsTable(counts), f"{tmp_path}/a.parquet", Rows(chosen))
    split(CountsTable(counts), f"{tmp_path}/b.parquet", Rows(drop=conditions("op=lookup,read")))
    split(CountsTable(counts), f"{tmp_path}/c.parquet", Rows(conditions("op=lookup,read")))
    selected, dropped = (pq.read_table(tmp_path / f"{name}.parquet") for name in "cb")
    whole = pq.read_table(counts)
    assert 0 < len(selected) < len(whole)
    assert len(selected) + len(dropped) == len(whole)
    part = pq.read_table(tmp_path / "a.parquet")
    assert pc.all(pc.starts_with(part["directory"], "/home/a")).as_py()
    assert set(part["op"].to_pylist()) == {"lookup", "read"}


def test_a_path_is_matched_whole_and_literally(counts: str, tmp_path: Path) -> None:
    assert values(counts, tmp_path, "directory", Rows(conditions("directory=/home"))) == {"/home"}
    assert values(counts, tmp_path, "directory", Rows(conditions("directory=/h.me"))) == set()


def test_periods_are_chosen_by_when_they_begin(counts: str, tmp_path: Path) -> None:
    rows = Rows(since=time("2026-11-21T05:38:30"), until=time("2026-11-21T06:38:40+01:00"))
    found = values(counts, tmp_path, "time", rows)
    assert {at.strftime("%H:%M:%S") for at in found} == {"05:38:30", "05:38:35"}  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("user", "expected KEY=VALUE"),
        ("colour=red", "'colour' is no key: expected one of server, client"),
        ("user=root", "expected numbers of users or groups"),
    ],
)
def test_a_condition_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Condition.parse(text)


def test_a_key_that_the_table_lacks_is_refused(counts: str) -> None:
    with pytest.raises(ValueError, match="no column gid"):
        split(CountsTable(counts), "-", Rows(conditions("group=5")))
