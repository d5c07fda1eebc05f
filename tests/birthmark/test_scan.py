"""``birthmark scan`` and its commands, as they are typed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.samples import DAYS
from tests.terminals import lines, on_terminal

DAY = str(DAYS[0])


def run(*arguments: str) -> str:
    return birthmark("scan", *arguments)


def birthmark(*arguments: str) -> str:
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.output


def test_a_first_word_that_is_no_command_is_a_trace(tmp_path: Path) -> None:
    run(DAY, "--out", f"{tmp_path}/a.parquet", "--by", "user")
    run("traces", DAY, "--by", "uid", "--out", f"{tmp_path}/b.parquet")
    run("--by", "user", "--out", f"{tmp_path}/c.parquet", DAY)
    a, b, c = (pq.read_table(tmp_path / f"{name}.parquet") for name in "abc")
    assert a.equals(b)
    assert a.equals(c)
    assert "agg" in run("--help")


def test_a_directory_gets_both_tables_in_every_format(tmp_path: Path) -> None:
    printed = run(DAY, "--out", str(tmp_path), "--by", "client")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("counts.csv", "counts.parquet", "counts.txt"),
        *("files.csv", "files.parquet", "files.txt"),
    ]
    assert "operations  104,344\n" in printed
    assert "files       10,014\n" in printed


def test_a_directory_may_have_a_suffix_where_it_is_there_or_ends_in_a_slash(
    tmp_path: Path,
) -> None:
    (tmp_path / "2026.11").mkdir()
    for name in ("2026.11", "2026.12/"):
        run(DAY, "--out", f"{tmp_path}/{name}")
        assert (tmp_path / name / "counts.csv").exists()


def test_the_options_say_what_is_counted(tmp_path: Path) -> None:
    options = ["--period", "10s", "--ops", "all", "--client", "127.0.0.15", "--user", "0,1006"]
    run(
        DAY, "--out", f"{tmp_path}/a.parquet", *options, "--group", "0", "--by", "client,user,group"
    )
    table = pq.read_table(tmp_path / "a.parquet")
    assert set(table["client"].to_pylist()) == {"127.0.0.15"}
    assert set(table["uid"].to_pylist()) == {0}
    assert "fsinfo" in table["op"].to_pylist()
    assert set(table["seconds"].to_pylist()) == {10.0}


def test_json_says_what_was_done(tmp_path: Path) -> None:
    result = json.loads(run(DAY, "--out", f"{tmp_path}/a.csv", "--json"))
    assert (result["operations"], result["out"]) == (104_344, [f"{tmp_path}/a.csv"])


@pytest.mark.deep
def test_commands_are_chained_through_pipes(tmp_path: Path) -> None:
    """Thesis 4.4.6: is it root on one client?"""
    program = f"{sys.executable} -m birthmark"
    scan = f"{program} scan"
    command = (
        f"{scan} {DAY} --by client,user,directory --period 1s --out -"
        f" | {scan} split - --keep user=0 | {scan} agg - --by client --period 5s"
        f" | {program} top table - --by client --count 1 --out -"
        f" | {scan} view - --by op --out {tmp_path}/root.svg"
    )
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "<!-- lookup -->" in (tmp_path / "root.svg").read_text()


def test_the_busiest_are_shown_with_a_total(tmp_path: Path) -> None:
    run(DAY, "--out", f"{tmp_path}/a.parquet", "--by", "user,client")
    lines = birthmark(
        "top", "table", f"{tmp_path}/a.parquet", "--by", "user", "--count", "2"
    ).splitlines()
    assert [line.split()[:2] for line in lines[1:]] == [
        *(["total", "104,344"], ["1002", "60,006"], ["1001", "27,728"])
    ]
    first = json.loads(
        birthmark("top", "table", f"{tmp_path}/a.parquet", "--order", "bytes", "--json")
    )[1]
    assert first["client"] == "127.0.0.11"


@pytest.mark.parametrize("name", ["counts.parquet", "counts.csv"])
def test_a_table_that_is_given_as_a_trace_is_refused_with_its_command(
    tmp_path: Path, name: str
) -> None:
    table = str(tmp_path / name)
    run(DAY, "--out", table, "--by", "client")
    for command in ("top", "scan"):
        refused = CliRunner().invoke(app, [command, table])
        assert str(refused.exception) == (
            f"{table}: is a table of counts: try birthmark top table {table}"
        )
    assert birthmark("top", "table", table, "--count", "1").startswith("client")


@pytest.fixture(scope="module")
def counts(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the path of the day's counts by user, file and directory."""
    table = f"{tmp_path_factory.mktemp('scan')}/counts.parquet"
    run(DAY, "--out", table, "--by", "user,file,directory")
    return table


@pytest.mark.parametrize(
    ("by", "width"),
    [("file", 80), ("file,directory", 80), ("user,file", 50), ("directory", 132)],
)
def test_on_a_terminal_the_paths_of_the_busiest_are_cut_in_the_middle(
    counts: str, by: str, width: int
) -> None:
    command = ["top", "table", counts, "--by", by, "--count", "30"]
    whole = birthmark(*command)
    shown = lines(on_terminal(command, width, NO_COLOR="1")[1].rstrip())
    assert len(shown) == len(whole.splitlines())
    assert max(map(len, shown)) <= width
    assert ("…" in "".join(shown)) == (max(map(len, whole.splitlines())) > width)
    assert "…" not in whole


def test_rows_are_chosen_by_time(tmp_path: Path) -> None:
    run(DAY, "--out", f"{tmp_path}/a.parquet", "--period", "1s")
    run(
        "split",
        f"{tmp_path}/a.parquet",
        "--since",
        "2026-11-21T05:38:30",
        "--until",
        "2026-11-21T05:38:31",
        "--drop",
        "op=other",
        "--out",
        f"{tmp_path}/b.parquet",
    )
    rows = pq.read_table(tmp_path / "b.parquet")
    assert len(rows["time"].unique()) == 1
    assert "other" not in rows["op"].to_pylist()


def test_a_plot_has_a_title_and_may_be_laid_over_itself(tmp_path: Path) -> None:
    run(DAY, "--out", f"{tmp_path}/a.csv", "--period", "1s")
    run(
        "view",
        f"{tmp_path}/a.csv",
        "--out",
        f"{tmp_path}/a.svg",
        "--overlay",
        "30s",
        "--measure",
        "latency",
        "--lines",
        "3",
        "--zone",
        "UTC",
        "--title",
        "Half minutes",
    )
    text = (tmp_path / "a.svg").read_text()
    for words in ("Half minutes", "from 05:38:30", "mean latency, ms"):
        assert f"<!-- {words} -->" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{day}", "--out", "{tmp}/a.csv", "--by", "colour"], "'colour' is no key"),
        (["{day}", "--out", "{tmp}/a.csv", "--by", "clent"], "(did you mean 'client'?)"),
        (["{day}", "--out", "{tmp}/a.csv", "--ops", "raed"], "'raed' is no operation (did you"),
        (["{day}", "--out", "{tmp}/a.csv", "--period", "soon"], "'soon' is no duration"),
        (["{day}", "--out", "{tmp}/a.xlsx"], "a.xlsx: expected a name that ends in .parquet"),
        (["{tmp}/missing", "--out", "{tmp}/a.csv"], "missing: No such file or directory"),
        (["agg", "{day}"], "day1.parquet: column seconds: expected double"),
        (["view", "{day}", "--out", "{tmp}/a.svg"], "day1.parquet: column seconds"),
    ],
)
def test_an_expected_error_is_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    words = [word.format(day=DAY, tmp=tmp_path) for word in arguments]
    done = subprocess.run(
        [sys.executable, "-m", "birthmark", "scan", *words], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("birthmark: ")
    assert done.stderr.count("\n") == 1
    assert message in done.stderr
