"""Operations, files and names: in every column, partition and other file of a dataset."""

from __future__ import annotations

import ipaddress
import json
import resource
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from birthmark.data.anonymize import Settings, anonymize, treatments
from birthmark.data.anonymize.columns import COLUMNS
from birthmark.data.datasets.tables import TABLES, read_table
from birthmark.data.ingest.run import ingest
from birthmark.data.schema import OPERATIONS
from birthmark_native import Mapping
from tests.data.anonymize.secret import DAMAGED, TEXT, leaks


def bare(table: pa.Table) -> bytes:
    """Return a table's values, uncompressed, one after the other."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue().to_pybytes()


def sorted_rows(dataset: Path, table: str) -> list[str]:
    return sorted(map(repr, read_table(dataset, table).to_pylist()))


@pytest.fixture
def dataset(trace: Path, tmp_path: Path) -> Path:
    ingest([trace], tmp_path / "dataset")
    return tmp_path / "dataset"


@pytest.fixture
def parquet(dataset: Path, tmp_path: Path) -> Path:
    """The operations in one file."""
    table = read_table(dataset, "operations")
    machines = pa.array([b"Jabberwock.Zephyrine"] * len(table), pa.binary())
    index = table.schema.get_field_index("machine")
    table = table.set_column(index, OPERATIONS.field("machine"), machines)
    index = table.schema.get_field_index("gids")
    gids = pa.array([[0x5EC1E7A2, 0]] * len(table), OPERATIONS.field("gids").type)
    table = table.set_column(index, OPERATIONS.field("gids"), gids)
    path = tmp_path / "Jabberwock.parquet"
    pq.write_table(table, path)
    assert len(leaks(bare(table))) > 15
    return path


def check_no_leaks(out: Path) -> None:
    for path in out.rglob("*"):
        assert leaks(str(path.relative_to(out)).encode()) == []
        if path.is_file():
            assert leaks(path.read_bytes()) == []
    for table in TABLES:
        assert leaks(bare(read_table(out, table))) == []
    assert not (out / "quarantine").exists()


def test_nothing_is_left_in_an_anonymized_dataset(dataset: Path, tmp_path: Path) -> None:
    assert leaks((dataset / "ingests" / "0001.json").read_bytes())
    assert (dataset / "quarantine").exists()
    summary = anonymize([str(dataset)], str(tmp_path / "out"), tmp_path / "mapping")
    check_no_leaks(tmp_path / "out")
    for table in ("operations", "files", "names"):
        rows = read_table(dataset, table).num_rows
        assert read_table(tmp_path / "out", table).num_rows == rows == summary.rows[table] > 0


def test_nothing_is_left_of_operations_in_parquet(parquet: Path, tmp_path: Path) -> None:
    anonymize([str(parquet)], str(tmp_path / "out"), tmp_path / "mapping")
    check_no_leaks(tmp_path / "out")
    operations = read_table(tmp_path / "out", "operations").to_pylist()
    assert {row["gids"][1] for row in operations} == {0}
    assert len({row["gids"][0] for row in operations}) == 1
    assert len({row["machine"] for row in operations}) == 1


def test_nothing_is_left_of_a_capture(shared: Path, tmp_path: Path) -> None:
    capture = shared / "captures" / "tiny.pcap"
    ingest([capture], tmp_path / "original")
    before = read_table(tmp_path / "original", "operations")
    settings = Settings(names=(), suffixes=())
    anonymize([str(capture)], str(tmp_path / "out"), tmp_path / "mapping", settings)
    after = bare(read_table(tmp_path / "out", "operations"))
    names = {name for name in before["name"].to_pylist() if name and len(name) > 5}
    handles = set(before["fh"].drop_null().to_pylist())
    assert names
    assert [each for each in names | handles if each in after] == []
    for host in before["server"].cast(pa.utf8()).unique().to_pylist():
        assert host.encode() not in after


def test_all_ways_lead_to_the_same_tables(trace: Path, dataset: Path, tmp_path: Path) -> None:
    """Text, then ingested; the operations, then their lives; all tables of a dataset."""
    mapping = tmp_path / "mapping"
    anonymize([str(trace)], str(tmp_path / "text"), mapping)
    ingest([tmp_path / "text"], tmp_path / "a")
    pq.write_table(read_table(dataset, "operations"), tmp_path / "operations.parquet")
    anonymize([str(tmp_path / "operations.parquet")], str(tmp_path / "b"), mapping)
    anonymize([str(dataset)], str(tmp_path / "c"), mapping)
    for table in ("operations", "messages", "files", "names"):
        assert sorted_rows(tmp_path / "a", table) == sorted_rows(tmp_path / "c", table)
    # Parquet of operations does not tell what was lost
    assert sorted_rows(tmp_path / "b", "operations") == sorted_rows(tmp_path / "c", "operations")
    assert read_table(tmp_path / "b", "files").num_rows == read_table(dataset, "files").num_rows > 0


def test_columns_to_keep_do_not_change(dataset: Path, tmp_path: Path) -> None:
    anonymize([str(dataset)], str(tmp_path / "out"), tmp_path / "mapping")
    for table, schema in TABLES.items():
        unchanged = [each.name for each in schema if COLUMNS.get(each.name) == "keep"]
        before, after = (
            read_table(each, table).select(unchanged) for each in (dataset, tmp_path / "out")
        )
        assert before.equals(after)


def test_a_line_in_a_column_is_anonymized_as_text_is() -> None:
    mapping = Mapping(True, True, [], 7)
    lines = [(TEXT + DAMAGED).splitlines()[i].encode() for i in (0, -2, -1)]
    batch = pa.record_batch({"line": pa.array([*lines, None], pa.binary())})
    first, *others = mapping.batch(batch, {"line": "line"})["line"].to_pylist()
    assert leaks(first) == []
    assert mapping.name(b"Zephyrine.tex") in first
    assert others == [None, None, None]


def test_addresses_stay_addresses(tmp_path: Path) -> None:
    mapping = Mapping(True, True, [], 7)
    hosts = ["10.1.2.3", "2001:470::1", "31", "10.1.2.3", "fileserver"]
    batch = pa.record_batch({"server": pa.array(hosts).dictionary_encode()})
    mapped = mapping.batch(batch, {"server": "host"})["server"].to_pylist()
    assert ipaddress.ip_address(mapped[0]) in ipaddress.ip_network("240.0.0.0/4")
    assert ipaddress.ip_address(mapped[1]) in ipaddress.ip_network("2001:db8::/32")
    assert int(mapped[2], 16) >= 0x1000
    assert mapped[0] == mapped[3]
    assert len(set(mapped)) == 4


def test_users_and_groups_of_version_4_are_mapped_by_name_or_number() -> None:
    mapping = Mapping(True, True, [], 7)
    mapping.keep("label", b"root")
    names = [b"alice@home.example", b"root@home.example", b"1000", b"01000", b"alice"]
    batch = pa.record_batch(
        {"owner_name": pa.array(names, pa.binary()), "uid": pa.array([1000] * 5, pa.uint32())}
    )
    mapped = mapping.batch(batch, {"owner_name": "user_name", "uid": "user"})
    alice, root, number, padded, again = mapped["owner_name"].to_pylist()
    assert alice.partition(b"@")[0] == again
    assert root == b"root@" + alice.partition(b"@")[2]
    assert number == b"%d" % mapped["uid"][0].as_py()
    assert padded != number


def test_a_words_list_passes_on_only_what_rows_have() -> None:
    mapping = Mapping(True, True, [], 7)
    words = pa.DictionaryArray.from_arrays(pa.array([1], pa.int32()), ["10.9.9.9", "10.1.2.3"])
    mapped = mapping.batch(pa.record_batch({"server": words}), {"server": "host"})
    assert b"10.9.9.9" not in bare(pa.Table.from_batches([mapped]))
    assert mapping.sizes()["host"] == 1


@pytest.mark.parametrize(
    ("treatment", "column"),
    [("user", pa.array(["x"])), ("host", pa.array([1])), ("name", pa.array([1.5]))],
)
def test_a_treatment_that_does_not_fit_a_column_is_refused(
    treatment: str, column: pa.Array
) -> None:
    mapping = Mapping(True, True, [], 7)
    batch = pa.record_batch({"x": column})
    with pytest.raises(ValueError, match=f"column x: .* cannot be treated as {treatment}"):
        mapping.batch(batch, {"x": treatment})
    with pytest.raises(ValueError, match=r"column x: .* cannot be treated as anything declared"):
        mapping.batch(batch, {})


def test_omitted_values_are_left_out(dataset: Path, tmp_path: Path) -> None:
    settings = Settings(omit=("names", "users", "groups", "addresses"))
    summary = anonymize([str(dataset)], str(tmp_path / "out"), tmp_path / "mapping", settings)
    check_no_leaks(tmp_path / "out")
    assert "names" not in summary.rows  # a table of names has none without them
    operations = read_table(tmp_path / "out", "operations")
    left_out = {"name", "user", "group"}
    for column, treatment in treatments(OPERATIONS).items():
        if treatment in left_out and column in operations.column_names:
            nulls = pc.list_flatten(operations[column]) if column == "gids" else operations[column]
            assert nulls.null_count == len(nulls)
    assert pc.unique(operations["server"].cast(pa.utf8())).to_pylist() == ["0"]


def test_tomorrow_is_added_to_the_same_dataset(dataset: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for _ in range(2):
        anonymize([str(dataset)], str(out), tmp_path / "mapping")
    assert sorted(path.name for path in (out / "ingests").iterdir()) == ["0001.json", "0002.json"]
    once = read_table(dataset, "files").num_rows
    assert read_table(out, "files").num_rows == 2 * once
    assert json.loads((out / "ingests" / "0001.json").read_text())["anonymized"] is True


def test_a_full_disk_leaves_no_part_of_a_dataset(parquet: Path, tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))

    out, mapping = tmp_path / "out", tmp_path / "mapping"
    command = [sys.executable, "-m", "birthmark", "anonymize", str(parquet)]
    command += ["--mapping", str(mapping), "--out", str(out)]
    failed = subprocess.run(command, capture_output=True, preexec_fn=limit, check=False)
    assert failed.returncode == 1
    assert b"File too large" in failed.stderr
    assert [path for path in out.rglob("*") if path.is_file()] == []


def test_text_and_tables_do_not_mix(trace: Path, dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected text alone, or no text among them"):
        anonymize([str(trace), str(dataset)], str(tmp_path / "out"), tmp_path / "mapping")


def test_tables_do_not_go_to_standard_output(
    parquet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="-: expected a dataset's directory"):
        anonymize([str(parquet)], "-", tmp_path / "mapping")
    assert not (tmp_path / "-").exists()


def test_a_directory_that_is_no_dataset_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="empty: no dataset"):
        anonymize([str(tmp_path / "empty")], str(tmp_path / "out"), tmp_path / "mapping")


def test_a_file_outside_of_a_server_is_refused(dataset: Path, tmp_path: Path) -> None:
    (operations,) = (dataset / "operations").rglob("*.parquet")
    for folder in ("operations", "ingests"):
        (tmp_path / "odd" / folder).mkdir(parents=True)
    (tmp_path / "odd" / "operations" / "x.parquet").write_bytes(operations.read_bytes())
    (tmp_path / "odd" / "ingests" / "0001.json").write_text('{"written": ["operations/x.parquet"]}')
    with pytest.raises(ValueError, match="expected a folder server="):
        anonymize([str(tmp_path / "odd")], str(tmp_path / "out"), tmp_path / "mapping")
