"""Workloads in files: complete or absent, and marked as generated everywhere.

Tests also research/commands/workload.py.
"""

from __future__ import annotations

import gzip
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.generated import describe, in_dataset
from birthmark.data.ingest.run import ingest
from birthmark.data.schema import OPERATIONS
from birthmark.data.traces.reader import open_trace
from birthmark.research.workloads import Workload, generate
from birthmark.research.workloads.output import format_of, write
from tests import needs

SMALL = Workload("campus", seed=7, start="2001-10-22", days=0.02, rate=0.01)
SHOWN_BY_ALL = {"name": "campus", "seed": 7}

CALL_WITHOUT_REPLY = (
    b"1003709000.000001 30.0320 31.0801 U C3 1 3 lookup fh 6189010057570100200000000051000000"
    b" name x euid 1 egid 1 con = 130 len = 100\n"
)


@pytest.fixture(scope="module")
def operations() -> pa.Table:
    return pa.Table.from_batches(list(generate(SMALL)), schema=OPERATIONS)


def test_a_parquet_file_holds_the_operations_and_the_whole_workload(tmp_path, operations):
    written = write(SMALL, tmp_path / "campus.parquet")
    trace = open_trace(tmp_path / "campus.parquet")
    assert pa.Table.from_batches(list(trace), schema=OPERATIONS).equals(operations)
    assert trace.generated == SMALL.to_json()
    assert written.operations == len(operations)
    assert written.bytes == (tmp_path / "campus.parquet").stat().st_size


def test_a_capture_holds_the_operations_and_the_mark(tmp_path, operations):
    write(SMALL, tmp_path / "campus.pcap")
    trace = open_trace(tmp_path / "campus.pcap")
    found = pa.Table.from_batches(list(trace), schema=OPERATIONS)
    assert trace.generated == SHOWN_BY_ALL
    columns = (
        "time reply_time client xid op status fh name fh2 new_fh offset count reply_count eof size "
        "mtime atime nlink fileid dir_mtime dir_pre_mtime uid gid machine how set_mode access"
    )
    for name in columns.split():
        expected = operations[name].cast(OPERATIONS.field(name).type)
        assert found[name].to_pylist() == expected.to_pylist(), name


def test_a_text_holds_the_operations_and_the_whole_workload(tmp_path, operations):
    write(SMALL, tmp_path / "campus.txt")
    assert (tmp_path / "campus.txt").read_bytes().startswith(b"# generated {")
    trace = open_trace(tmp_path / "campus.txt")
    found = pa.Table.from_batches(list(trace), schema=OPERATIONS)
    assert trace.generated == SMALL.to_json()
    for name in ("time", "reply_time", "op", "status", "fh", "name", "new_fh", "offset", "count"):
        assert found[name].to_pylist() == operations[name].to_pylist(), name


def test_batches_of_any_size_are_written_alike(tmp_path, monkeypatch):
    hours = replace(SMALL, days=0.15)
    write(hours, tmp_path / "one.parquet")
    monkeypatch.setattr("birthmark.research.workloads.output.ROW_GROUP", 500)
    write(hours, tmp_path / "many.parquet")
    one, many = (pq.ParquetFile(tmp_path / f"{name}.parquet") for name in ("one", "many"))
    assert many.metadata.num_row_groups > one.metadata.num_row_groups
    assert one.read().equals(many.read())


def test_a_trace_of_no_operations_is_an_empty_table(tmp_path):
    nothing = Workload("campus", seed=1, start="2001-10-22", days=1e-9, rate=0.001)
    assert write(nothing, tmp_path / "none.parquet").operations == 0
    assert open_trace(tmp_path / "none.parquet").generated == nothing.to_json()


def test_nothing_is_left_of_a_workload_that_cannot_be_written(tmp_path):
    (tmp_path / "small").mkdir()

    def fails(part: float, rows: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write(SMALL, tmp_path / "small" / "campus.parquet", progress=fails)
    assert list((tmp_path / "small").iterdir()) == []


@pytest.mark.deep
@pytest.mark.parametrize("suffix", [".parquet", ".txt", ".pcap"])
def test_data_derived_from_a_generated_trace_is_marked(tmp_path, suffix):
    write(SMALL, tmp_path / f"trace{suffix}")
    summary = ingest([tmp_path / f"trace{suffix}"], tmp_path / "days")
    record = json.loads((tmp_path / "days" / "ingests" / "0001.json").read_text())
    assert record["generated"] == summary.generated == in_dataset(tmp_path / "days")
    assert describe(summary.generated) == "generated: campus, seed 7"

    run = CliRunner().invoke
    registry = ["--registry", str(tmp_path / "registry")]
    days = str(tmp_path / "days")
    trained = run(app, ["train", days, *registry, "--json"])
    assert json.loads(trained.stdout)["generated"] == summary.generated
    assert "generated: campus, seed 7" in run(app, ["evaluate", days, *registry]).stdout
    assert (
        run(
            app, ["evaluate", "report", days, *registry, "--out", str(tmp_path / "r.html")]
        ).exit_code
        == 0
    )
    assert (tmp_path / "r.html").read_text().count("generated: campus, seed 7") == 2
    ingested = run(app, ["ingest", str(tmp_path / f"trace{suffix}"), "--out", str(tmp_path / "b")])
    assert "generated: campus, seed 7" in ingested.stdout


def test_text_that_is_printed_of_a_generated_trace_says_so(tmp_path):
    write(SMALL, tmp_path / "campus.parquet")
    write(SMALL, tmp_path / "campus.pcap")
    write(SMALL, tmp_path / "campus.txt")
    (tmp_path / "campus.txt.gz").write_bytes(gzip.compress((tmp_path / "campus.txt").read_bytes()))
    ingest([tmp_path / "campus.parquet"], tmp_path / "days")
    for trace, options in (
        ("campus.parquet", ["--from", "operations"]),
        ("days", ["--from", "operations"]),
        ("campus.pcap", []),
        ("campus.txt", []),
        ("campus.txt.gz", []),
    ):
        printed = CliRunner().invoke(app, ["dump", str(tmp_path / trace), *options])
        assert printed.exit_code == 0, printed.output
        assert printed.stdout.startswith('# generated {"name": "campus", "seed": 7')


@pytest.mark.parametrize(
    ("heading", "mark"),
    [
        (b'# generated {"name": "campus", "seed": 7}\n', SHOWN_BY_ALL),
        (b"# generated by hand\n", None),
        (b'# generated {"name": "campus"}\n', None),
        (b"# a remark\n", None),
        (b"", None),
    ],
)
def test_a_text_is_marked_by_its_first_line(tmp_path, heading, mark):
    path = tmp_path / "trace.txt"
    path.write_bytes(heading + CALL_WITHOUT_REPLY)
    assert ingest([path], tmp_path / "days").generated == ([mark] if mark else [])


def test_a_mark_below_the_first_line_is_a_remark(tmp_path):
    path = tmp_path / "trace.txt"
    path.write_bytes(CALL_WITHOUT_REPLY + b'# generated {"name": "campus", "seed": 7}\n')
    assert ingest([path], tmp_path / "days").generated == []


def test_a_real_trace_is_not_marked(tmp_path):
    from birthmark.data.samples import DAYS

    assert open_trace(DAYS[0]).generated is None


def test_the_format_is_that_of_the_suffix_unless_it_is_named():
    assert format_of(Path("a.parquet")) == "operations"
    assert format_of(Path("a.pcap")) == "pcap"
    assert format_of(Path("a.pcap"), "operations") == "operations"
    with pytest.raises(ValueError, match=r"a\.doc: expected a name that ends in one of \.parquet"):
        format_of(Path("a.doc"))


def test_the_command_prints_what_it_wrote(tmp_path):
    out = tmp_path / "campus.parquet"
    options = ["--seed", "7", "--days", "0.02", "--rate", "0.01", "--out", str(out)]
    result = CliRunner().invoke(app, ["research", "workload", "campus", *options, "--json"])
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["generated"] == SMALL.to_json()
    assert printed["operations"] == pq.ParquetFile(out).metadata.num_rows
    assert (
        "generated: campus, seed 7"
        in CliRunner().invoke(app, ["research", "workload", "campus", *options]).stdout
    )


@pytest.mark.parametrize("suffix", [".parquet", ".pcap", ".txt"])
def test_a_replay_of_a_generated_trace_says_so(tmp_path, suffix):
    trace = tmp_path / f"trace{suffix}"
    write(SMALL, trace)
    command = ["replay", "build", str(trace), "--out"]
    printed = CliRunner().invoke(app, [*command, str(tmp_path / "a")]).stdout
    assert printed.startswith("generated: campus, seed 7\n")
    mark = SHOWN_BY_ALL if suffix == ".pcap" else SMALL.to_json()
    shown = CliRunner().invoke(app, [*command, str(tmp_path / "b"), "--json"]).stdout
    assert json.loads(shown)["generated"] == [mark]
    assert json.loads((tmp_path / "a" / "build.json").read_text())["generated"] == [mark]


@pytest.mark.deep
def test_an_independent_decoder_reads_a_generated_capture(tmp_path, operations):
    write(SMALL, tmp_path / "campus.pcap")
    tshark = needs.program("tshark")
    command = [tshark, "-r", str(tmp_path / "campus.pcap"), "-Y", "rpc.msgtyp == 0 && nfs",
               "-T", "fields", "-e", "rpc.auth.machinename"]  # fmt: skip
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
    assert len(lines) == len(operations)
    assert all(line.endswith(".campus-seed7.generated") for line in lines)
