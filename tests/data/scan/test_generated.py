"""Counts of a generated trace are marked, whatever is made of them.

Tests also data/generated.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.generated import all_in_metadata, in_comment
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.data.scan import Plan, scan
from birthmark.data.scan.inputs import CountsTable
from tests.generated import write

WHOLE = {"name": "campus", "seed": 7, "start": "2001-10-22", "days": 0.02, "rate": 0.01}
SHORT = {"name": "campus", "seed": 7}
LABEL = "generated: campus, seed 7"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with a generated trace, and its counts in every format."""
    folder = tmp_path_factory.mktemp("made")
    write(WHOLE, folder / "trace.parquet")
    scan([folder / "trace.parquet"], folder, Plan(by=["uid"]))
    return folder


def run(*arguments: object) -> str:
    return birthmark("scan", *arguments)


def birthmark(*arguments: object) -> str:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("table", ["counts", "files"])
def test_every_format_of_a_table_is_marked(made: Path, table: str) -> None:
    assert all_in_metadata(pq.read_schema(made / f"{table}.parquet")) == [WHOLE]
    heading, names = (made / f"{table}.txt").read_bytes().split(b"\n")[:2]
    assert in_comment(heading) == WHOLE
    assert names.startswith((b"#time ", b"#server "))
    column = csv.read_csv(made / f"{table}.csv")["generated"]
    assert set(column.to_pylist()) == {"campus-seed7"}


def test_other_readers_find_the_columns_of_a_marked_csv(made: Path) -> None:
    ops, generated_label = duckdb.sql(
        f"SELECT sum(ops), any_value(generated) FROM '{made / 'counts.csv'}'"
    ).fetchall()[0]
    assert ops == pq.ParquetFile(made / "trace.parquet").metadata.num_rows
    assert generated_label == "campus-seed7"


@pytest.mark.parametrize("suffix", ["txt", "pcap", "dataset"])
def test_a_trace_of_any_kind_hands_its_mark_on(made: Path, tmp_path: Path, suffix: str) -> None:
    trace = tmp_path / f"trace.{suffix}"
    if suffix == "dataset":
        ingest([made / "trace.parquet"], trace)
    else:
        write(WHOLE, trace)
    printed = json.loads(run(trace, DAYS[0], "--out", tmp_path / "counts.parquet", "--json"))
    mark = SHORT if suffix == "pcap" else WHOLE
    assert printed["generated"] == [mark]
    assert CountsTable(str(tmp_path / "counts.parquet")).generated == [mark]


@pytest.mark.parametrize(("kind", "mark"), [("parquet", WHOLE), ("csv", SHORT)])
@pytest.mark.parametrize(
    "command",
    [
        ["scan", "agg", "--by", "none"],
        ["scan", "split", "--drop", "op=read"],
        ["top", "table", "--by", "user"],
    ],
    ids=lambda command: command[0],
)
def test_tables_derived_from_a_marked_table_are_marked(
    made: Path, tmp_path: Path, command: list[str], kind: str, mark: dict[str, object]
) -> None:
    group, name, *options = command
    for out in ("rows.parquet", "rows.csv", "rows.txt"):
        birthmark(group, name, made / f"counts.{kind}", *options, "--out", tmp_path / out)
    assert CountsTable(str(tmp_path / "rows.parquet")).generated == [mark]
    assert CountsTable(str(tmp_path / "rows.csv")).generated == [SHORT]
    assert in_comment((tmp_path / "rows.txt").read_bytes().split(b"\n")[0]) == mark


def test_the_mark_is_printed(made: Path, tmp_path: Path) -> None:
    assert run(made / "trace.parquet", "--out", tmp_path / "a.csv").startswith(f"{LABEL}\n")
    assert birthmark("top", "table", made / "counts.csv", "--by", "user").startswith(LABEL)
    rows = json.loads(birthmark("top", "table", made / "counts.csv", "--by", "user", "--json"))
    assert {row["generated"] for row in rows} == {"campus-seed7"}


@pytest.mark.parametrize("options", [[], ["--overlay", "10m"], ["--title", "Mail & more"]])
def test_a_plot_says_so(
    made: Path, tmp_path: Path, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")  # words, not outlines
    run("view", made / "counts.parquet", *options, "--out", tmp_path / "plot.svg")
    assert LABEL in (tmp_path / "plot.svg").read_text()


def test_counts_of_a_real_trace_have_no_mark(folder: Path) -> None:
    table = CountsTable(str(folder / "counts.csv"))
    assert table.generated == []
    assert csv.read_csv(folder / "counts.csv").column_names == table.schema.names
    assert (folder / "counts.txt").read_bytes().startswith(b"#time ")
    assert all_in_metadata(pq.read_schema(folder / "counts.parquet")) == []
