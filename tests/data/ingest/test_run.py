"""Ingest: from trace files to a dataset, every record accounted for, all or nothing.

Tests also data/ingest/lives.py, data/ingest/summary.py, data/schema.py, data/traces/tallies.py.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data import schema
from birthmark.data.datasets.partitions import Partitions, partitions
from birthmark.data.datasets.tables import DatasetWriter, read_files, read_names, read_table
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.traces.reader import open_trace

CALL = '{}.0 {} {} U C3 {:x} 8 create fh 0{} name "a{}" how U mode 1a4 con = XXX len = XXX'
REPLY = "{}.5 {} {} U R3 {:x} 8 create OK fh 0{}{:04x} status=XXX pl = XXX con = XXX len = XXX"


def create(time: int, xid: int, server: str = "30.0801", client: str = "31.03f7") -> str:
    """A create and its reply, as text."""
    call = CALL.format(time, client, server, xid, 1, xid)
    return f"{call}\n{REPLY.format(time, server, client, xid, 2, xid)}\n"


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "trace.txt"
    noon = 1_000_000_000 - 1_000_000_000 % 86_400
    path.write_text(
        create(noon, 1)
        + create(noon + 86_400, 2)
        + create(noon + 86_401, 3, server="40.0801")
        + "XX Funny line (1)\n"
        + "# a comment\n"
    )
    return path


def test_rows_are_partitioned_by_server_and_day(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    summary = ingest([trace], out)
    # a directory on each server was named, but its birth was not seen
    assert summary.rows == {"operations": 3, "messages": 0, "files": 5, "names": 3, "loss": 3}
    for table in ("operations", "files", "names"):
        found = {str(path.parent.relative_to(out / table)) for path in out.glob(f"{table}/*/*/*")}
        assert found == {
            "server=30/day=2001-09-09",
            "server=30/day=2001-09-10",
            "server=40/day=2001-09-10",
        }


def test_tables_are_read_back_as_their_schemas_have_them(trace: Path, tmp_path: Path) -> None:
    ingest([trace], tmp_path / "out")
    files, names = read_files(tmp_path / "out"), read_names(tmp_path / "out")
    operations = read_table(tmp_path / "out", "operations")
    assert files.schema == schema.FILES
    assert names.schema == schema.NAMES
    assert operations.schema == schema.OPERATIONS
    (batch,) = open_trace(trace)
    key = ["server", "xid"]
    assert sorted(row.items() for row in operations.select(key).to_pylist()) == sorted(
        row.items() for row in batch.select(key).to_pylist()
    )
    born = [row["name"] for row in files.to_pylist() if row["birth_seen"]]
    assert sorted(born) == [b"a1", b"a2", b"a3"]


def test_every_record_is_accounted_for(trace: Path, tmp_path: Path) -> None:
    summary = ingest([trace], tmp_path / "out").to_json()
    assert summary["records_in"] == 8
    assert summary["records_out"] == {"calls": 3, "replies": 3, "comments": 1}
    assert summary["records_set_aside"] == {"funny-line": 1}
    assert summary["procedures"]["create"] == {
        "calls": 3,
        "replies": 3,
        "ok": 3,
        "errors": 0,
        "operations": 3,
        "unanswered": 0,
    }
    written = json.loads((tmp_path / "out" / "ingests" / "0001.json").read_text())
    assert written["records_in"] == 8


def test_damaged_records_are_kept_with_their_place_and_reason(trace: Path, tmp_path: Path) -> None:
    trace.write_bytes(trace.read_bytes() + b"1.0 \xff\xfe damaged\n")
    ingest([trace], tmp_path / "out")
    lines = (tmp_path / "out" / "quarantine" / "0001.jsonl").read_text().splitlines()
    first, second = (json.loads(line) for line in lines)
    assert first["trace"] == str(trace)
    assert (first["line"], first["reason"], first["text"]) == (7, "funny-line", "XX Funny line (1)")
    assert base64.b64decode(second["base64"]) == b"1.0 \xff\xfe damaged"


@pytest.mark.deep
def test_every_record_of_extensive_damage_is_stored(tmp_path: Path) -> None:
    trace = tmp_path / "bad.txt"
    trace.write_text(create(1000, 1) + "1.0 x\n" * 200_000)
    summary = ingest([trace], tmp_path / "out")
    assert summary.records_set_aside == {"bad-address": 200_000}
    lines = (tmp_path / "out" / "quarantine" / "0001.jsonl").read_text().splitlines()
    assert len(lines) == 200_000
    assert json.loads(lines[-1])["line"] == 200_002


def test_a_second_ingest_adds_to_the_dataset(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ingest([trace], out)
    ingest([DAYS[0]], out)
    assert sorted(path.name for path in (out / "ingests").iterdir()) == ["0001.json", "0002.json"]
    assert set(read_files(out)["server"].to_pylist()) == {"30", "40", "127.0.0.1"}


def test_several_traces_are_one_stretch_of_time(tmp_path: Path) -> None:
    for number, content in enumerate([create(1000, 1), create(1060, 2)]):
        (tmp_path / f"{number}.txt").write_text(content)
    ingest([tmp_path / "0.txt", tmp_path / "1.txt"], tmp_path / "out")
    until = set(read_files(tmp_path / "out")["observed_until"].cast(pa.int64()).to_pylist())
    assert until == {1_060_000_005}


def test_a_failed_ingest_leaves_nothing_of_itself(trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ingest([trace], out)
    before = sorted(path for path in out.rglob("*"))
    bad = tmp_path / "photo.jpg"
    bad.write_bytes(b"\xff\xd8\xff\xe0")
    with pytest.raises(ValueError, match=r"photo\.jpg: is no trace"):
        ingest([trace, bad], out)
    assert sorted(path for path in out.rglob("*")) == before


def test_a_write_that_fails_is_an_error_and_leaves_nothing(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "somewhere")

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    with pytest.raises(OSError, match="No space left"):
        ingest([trace], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_server_in_a_path_is_escaped(tmp_path: Path) -> None:
    batch = next(iter(open_trace(DAYS[0])))
    index = batch.schema.get_field_index("server")
    server = pa.array(["fe80::1/64"] * batch.num_rows).dictionary_encode()
    batch = batch.set_column(index, batch.schema.field(index), server.cast(schema.WORD))
    with DatasetWriter(tmp_path) as dataset:
        dataset.write("operations", batch)
    assert (tmp_path / "operations" / "server=fe80%3A%3A1%2F64").is_dir()
    assert set(read_table(tmp_path, "operations")["server"].to_pylist()) == {"fe80::1/64"}


def test_rows_before_1970_fall_on_their_own_day() -> None:
    batch = pa.record_batch(
        {
            "server": pa.array(["s", "s"]).dictionary_encode(),
            "time": pa.array([-1, 1], schema.TIME),
        }
    )
    assert [day for _, day, _ in partitions(batch, batch["time"], Partitions())] == [
        "1969-12-31",
        "1970-01-01",
    ]


def test_a_directory_that_is_no_dataset_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no dataset: expected a directory ingests/"):
        read_files(tmp_path)


def test_the_bundled_samples_are_whole(tmp_path: Path) -> None:
    assert sum(path.stat().st_size for path in DAYS) < 8_000_000
    for path in DAYS:
        summary = ingest([path], tmp_path / path.stem)
        assert summary.records_in == summary.records_out["calls"] + summary.records_out["replies"]
        assert summary.rows["files"] > 5_000
