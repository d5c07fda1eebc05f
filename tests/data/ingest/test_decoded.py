"""Traces decoded separately and combined: the same dataset as one ingest makes of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from birthmark.data.datasets.ingests import records
from birthmark.data.datasets.tables import TABLES, read_table
from birthmark.data.ingest.decoded import Decoded, combine, decode
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from tests.generated import write

NOON = 1_000_000_000 - 1_000_000_000 % 86_400
CALLER, SERVER = "31.03f7", "30.0801"


def exchange(time: float, xid: int, what: str, answer: str) -> str:
    end = "con = 1 len = 1\n"
    return (
        f"{time:.6f} {CALLER} {SERVER} T C3 {xid:x} {what} {end}"
        f"{time + 0.001:.6f} {SERVER} {CALLER} T R3 {xid:x} {answer} status=0 pl = 1 {end}"
    )


def create(time: float, xid: int, name: str) -> str:
    return exchange(
        time, xid, f'8 create fh 01 name "{name}" how U mode 1a4', f"8 create OK fh 02{xid:04x}"
    )


def remove(time: float, xid: int, name: str) -> str:
    return exchange(time, xid, f'c remove fh 01 name "{name}"', "c remove OK")


@pytest.fixture
def traces(tmp_path: Path) -> list[Path]:
    """Return two traces: a life that continues in the second, calls lost in both, and damage."""
    one, two = tmp_path / "one.txt", tmp_path / "two.txt"
    one.write_text(
        create(NOON, 1, "lasting")
        + create(NOON + 1, 2, "brief")
        + "here characters were lost\n"
        + remove(NOON + 1.5, 40, "brief")
        + remove(NOON + 2, 41, "lasting").splitlines(keepends=True)[0]
    )
    two.write_text(
        remove(NOON + 86_400, 90, "lasting") + create(NOON + 86_401, 91, "late") + "XX Funny line\n"
    )
    return [one, two]


def both(traces: list[Path], tmp_path: Path) -> tuple[Path, Path]:
    """Return the datasets of one ingest, and of traces that were decoded one by one."""
    whole, parts = tmp_path / "whole", [tmp_path / f"part{n}" for n in range(len(traces))]
    ingest(traces, whole)
    for trace, part in zip(traces, parts, strict=True):
        decode(trace, part)
    combined = tmp_path / "combined"
    combine(parts, combined, known_as=whole)
    return whole, combined


def test_a_dataset_of_decoded_traces_is_that_of_one_ingest(
    traces: list[Path], tmp_path: Path
) -> None:
    whole, combined = both(traces, tmp_path)
    for table in TABLES:
        assert read_table(combined, table) == read_table(whole, table), table
    assert read_table(combined, "files")["loss_nearby"].to_pylist().count(True) > 0
    lives = {row["name"]: row["died"] for row in read_table(combined, "names").to_pylist()}
    assert lives[b"lasting"] is not None
    files = {"written": []}  # whose names differ
    assert records(combined)["0001"] | files == records(whole)["0001"] | files
    set_aside = [
        [
            json.loads(line)
            for path in sorted(out.glob("quarantine/*"))
            for line in path.read_text().splitlines()
        ]
        for out in (whole, combined)
    ]
    assert len(set_aside[0]) == 2
    assert set_aside[0] == set_aside[1]


def test_a_later_ingest_into_it_touches_none_of_its_files(
    traces: list[Path], tmp_path: Path
) -> None:
    _, combined = both(traces, tmp_path)
    before = {path: path.read_bytes() for path in combined.rglob("*") if path.is_file()}
    ingest([traces[0]], combined)
    assert before == {path: path.read_bytes() for path in before}
    assert read_table(combined, "operations").num_rows == 4 + 2 + 4


def test_decoded_traces_without_records_are_not_lost(traces: list[Path], tmp_path: Path) -> None:
    decode(traces[0], tmp_path / "part")
    shutil.rmtree(tmp_path / "part" / "dataset" / "ingests")
    combine([tmp_path / "part"], tmp_path / "combined")
    assert read_table(tmp_path / "combined", "operations").num_rows == 4


@pytest.mark.deep
def test_tables_of_operations_and_captures_are_decoded_likewise(tmp_path: Path) -> None:
    capture = tmp_path / "campus.pcap"
    workload = {"name": "eecs03", "seed": 3, "start": "2003-06-02", "days": 0.02, "rate": 0.1}
    write(workload, capture)
    whole, combined = both([DAYS[0], capture], tmp_path)
    for table in TABLES:
        assert read_table(combined, table) == read_table(whole, table), table


def test_a_decoded_trace_is_not_decoded_again(traces: list[Path], tmp_path: Path) -> None:
    part = tmp_path / "part"
    decode(traces[0], part)
    traces[0].unlink()
    decode(traces[0], part)
    assert Decoded(part).rows["operations"] == 4


def test_other_files_than_traces_leave_nothing(tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text("<html>")
    with pytest.raises(ValueError, match=r"page\.html"):
        decode(tmp_path / "page.html", tmp_path / "parts" / "part")
    assert list((tmp_path / "parts").iterdir()) == []
