"""Surplus servers and days share a partition, and none of their rows is lost."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest

from birthmark.data.datasets import partitions
from birthmark.data.datasets.partitions import OTHERS, PARTITIONS, SERVERS, Partitions
from birthmark.data.datasets.tables import DatasetWriter, read_table
from birthmark.data.ingest.decoded import combine, decode
from birthmark.data.ingest.run import ingest
from birthmark.data.schema import TIME

START = 1_003_680_000
DAY = 86_400


def call(time: float, server: int, xid: int) -> str:
    return f"{time:.6f} 31.03f7 {server:x}.0801 U C3 {xid:x} 1 getattr fh 01 con = 1 len = 1\n"


def many(path: Path, servers: int, real: int = 500) -> Path:
    """Write a trace of forged packets to ``servers`` servers, then the traffic of a real one."""
    forged = [call(START + n / 1000, 0x100000 + n, n) for n in range(servers)]
    own = [call(START + 60 + n / 1000, 0x30, n) for n in range(real)]
    path.write_text("".join(forged + own))
    return path


def folders(dataset: Path, table: str) -> set[str]:
    return {path.name.removeprefix("server=") for path in (dataset / table).iterdir()}


@pytest.mark.deep
def test_two_thousand_servers_share_a_bounded_number_of_partitions(tmp_path: Path) -> None:
    trace = many(tmp_path / "trace", 2000)
    summary = ingest([trace], tmp_path / "whole")
    decode(trace, tmp_path / "decoded")
    combined = combine([tmp_path / "decoded"], tmp_path / "combined")
    for dataset, found in ((tmp_path / "whole", summary), (tmp_path / "combined", combined)):
        servers_apart = folders(dataset, "operations")
        assert len(servers_apart) <= SERVERS + 1
        assert {OTHERS, "30"} <= servers_apart, "the server with most traffic is separate"
        operations = read_table(dataset, "operations", ["server", "time"])["server"].to_pylist()
        assert len(operations) == 2500
        assert operations.count("30") == 500
        assert operations.count(OTHERS) == found.others["rows"] == 2001 - SERVERS
        assert found.others["servers"] == 2001 - SERVERS
        assert folders(dataset, "loss") <= servers_apart
        assert len(list(dataset.rglob("*.parquet"))) <= 3 * (SERVERS + 2)


def test_counts_of_forged_servers_are_bounded_and_add_up() -> None:
    places, batches, forged = Partitions(), 50, 10_000
    tracemalloc.start()
    for batch in range(batches):
        rows = {f"{batch}.{number}": 1 for number in range(forged)}
        places.meet(rows | {"real": 10})
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    total = batches * (forged + 10)
    assert peak < 30 << 20
    assert places.traffic()["real"] == 10 * batches
    assert places.others()["rows"] + sum(places.traffic().values()) == total


def test_a_server_that_comes_late_with_more_traffic_displaces_one_with_little(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "SERVERS", 2)
    with DatasetWriter(tmp_path) as dataset:
        for names in (["a"] * 5 + ["b"] * 2, ["c"] * 4, ["c"] * 3, ["b", "a"]):
            words = pa.array(names).dictionary_encode()
            times = pa.array(range(len(names)), TIME)
            dataset.write("operations", pa.record_batch({"server": words, "time": times}))
        assert dataset.places.traffic() == {"a": 6, "c": 7}
        assert dataset.places.others() == {"servers": 1, "rows": 3}
    # the 4 of its first batch came when it had no more than twice the traffic of b
    assert folders(tmp_path, "operations") == {"a", "c", OTHERS}
    rows = read_table(tmp_path, "operations", ["server", "time"])["server"].to_pylist()
    assert {server: rows.count(server) for server in set(rows)} == {"a": 6, "c": 3, OTHERS: 7}


@pytest.mark.deep
def test_days_that_are_too_many_stand_together(tmp_path: Path) -> None:
    days = PARTITIONS + 200
    lines = [call(START + n * DAY, 0x30, n) for n in range(days)]
    (tmp_path / "trace").write_text("".join(lines))
    ingest([tmp_path / "trace"], tmp_path / "dataset")
    found = list((tmp_path / "dataset" / "operations" / "server=30").iterdir())
    assert len(found) == PARTITIONS + 1
    assert len(read_table(tmp_path / "dataset", "operations", ["time"])) == days


def test_a_day_outside_the_years_1_to_9999_is_an_error() -> None:
    words, times = pa.array(["s"]).dictionary_encode(), pa.array([2**63 - 1], TIME)
    batch = pa.record_batch({"server": words, "time": times})
    with pytest.raises(ValueError, match="the years 1 to 9999"):
        partitions.partitions(batch, batch["time"], Partitions())


def test_a_day_of_the_far_future_is_found_exactly() -> None:
    last = 253_402_300_799_999_999  # 9999-12-31T23:59:59.999999Z, more than a float64 holds
    words, times = pa.array(["s"] * 2).dictionary_encode(), pa.array([0, last], TIME)
    batch = pa.record_batch({"server": words, "time": times})
    parts = partitions.partitions(batch, batch["time"], Partitions())
    assert [day for _, day, _ in parts] == ["1970-01-01", "9999-12-31"]
