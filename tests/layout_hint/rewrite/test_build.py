"""Building: every call accounted for, any kind of trace, all or nothing.

Tests also layout_hint/rewrite/.
"""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from birthmark.data.ingest.run import ingest
from birthmark.layout_hint.rewrite import build
from birthmark.layout_hint.rewrite.schema import MANIFEST, OPERATIONS
from tests.layout_hint.rewrite.made import (
    HOME,
    JUKEBOX,
    NOENT,
    SYMLINK,
    create,
    directory,
    file,
    lookup,
    op,
    replayed,
    replayed_trace,
    write_trace,
)

TEXT = """\
1.0 31.03f7 30.0801 U C3 1 3 lookup fh 01 name "x" con = XXX len = XXX
1.1 30.0801 31.03f7 U R3 1 3 lookup OK fh 02 ftype 1 mode 1a4 nlink 1 uid 5 gid 6 size a \
used 0 rdev 0 rdev2 0 fsid 1 fileid 2 atime 1.0 mtime 1.0 ctime 1.0 status=0 pl = 1 con = 1 len = 1
2.0 31.03f7 30.0801 U C3 2 1 getattr fh 02 con = XXX len = XXX
"""


def test_calls_that_no_file_system_can_answer_so_are_left_out_and_counted(tmp_path: Path) -> None:
    rows = [
        lookup(1, b"x", status=JUKEBOX),
        lookup(2, b"x", status=None),
        lookup(3, b"x", status=65_536),
        op("null", 4, None),
        op("read", 5, None, short=True),
        op("create", 6, HOME, name=b"a/b", new_fh=b"f"),
        op("mkdir", 7, HOME, name=b"..", new_fh=b"f"),
        op("symlink", 8, HOME, name=b"l", target=b"a\0b", new_fh=b"f"),
        op("getattr", 9, HOME, status=13),
        lookup(10, b"x", status=NOENT),
    ]
    found = replayed(tmp_path, rows)
    assert found.sequence == ["lookup"]
    assert found.built.left_out == {
        "name that no file system has": 3,
        "the server's own error: JUKEBOX": 1,
        "no reply seen": 1,
        "refused by RPC": 1,
        "nothing that a file system does": 1,
        "cut short": 1,
        "error that no state explains": 1,
    }
    assert found.built.calls == len(rows)


def test_the_tables_are_as_documented_and_the_summary_is_kept(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace.parquet", [create(1, b"x", b"f", **file())])
    summary = build([trace], tmp_path / "out")
    out = tmp_path / "out"
    assert pq.read_schema(out / "manifest.parquet").equals(MANIFEST, check_metadata=True)
    assert pq.read_schema(out / "operations.parquet").equals(OPERATIONS, check_metadata=True)
    assert all(each.metadata[b"doc"] for schema in (MANIFEST, OPERATIONS) for each in schema)
    saved = json.loads((out / "build.json").read_text())
    assert saved == json.loads(json.dumps(summary.to_json()))
    assert {path.name for path in out.iterdir()} == {
        "build.json",
        "manifest.csv",
        "manifest.parquet",
        "operations.parquet",
    }


def test_the_manifest_can_be_read_whatever_the_names(tmp_path: Path) -> None:
    link = {"ftype": SYMLINK, "mode": 0o777, "size": 1}
    rows = [
        lookup(1, b"a\xffb\n", b"f", **file(3, 0o2755)),
        lookup(2, "größe,1".encode(), b"g", **file()),
        lookup(3, b"l", b"l", **link),
        op("readlink", 4, b"l", target=b"t", **link),
    ]
    found = replayed(tmp_path, rows)
    with (tmp_path / "build" / "manifest.csv").open(newline="") as text:
        listed = {row["path"].split("/")[-1]: row for row in csv.DictReader(text)}
    assert listed.keys() >= {r"a\xffb\x0a", "größe,1", "l"}
    assert listed[r"a\xffb\x0a"]["mode"] == "2755"
    assert listed["l"]["target"] == "t"
    assert len(listed) == len(found.manifest)


def test_directories_come_before_what_they_hold(tmp_path: Path) -> None:
    rows = [
        op("lookup", 1, b"c", name=b"d", new_fh=b"d", **directory()),
        op("lookup", 2, b"b", name=b"c", new_fh=b"c", **directory()),
        op("lookup", 3, b"d", name=b"x", new_fh=b"x", **file()),
        op("lookup", 4, b"a", name=b"b", new_fh=b"b", **directory()),
    ]
    found = replayed(tmp_path, rows)
    paths = [row["path"].split(b"/", 1) for row in found.manifest]
    assert [path[1:] for path in paths] == [[], [b"b"], [b"b/c"], [b"b/c/d"], [b"b/c/d/x"]]


def test_text_is_built_from_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "trace.txt").write_text(TEXT)
    found = replayed_trace(tmp_path, tmp_path / "trace.txt")
    assert found.sequence == ["lookup"]
    assert found.built.left_out == {"no reply seen": 1}
    assert [(row["name"], row["size"]) for row in found.manifest][1:] == [(b"x", 10)]
    assert found.ran.same == 1


def test_a_dataset_is_built_from_as_its_trace_is(tmp_path: Path) -> None:
    rows = [
        create(1, b"x", b"f", **file(), server="b"),
        create(2, b"x", b"f", **file(), server="a"),
        op("remove", 90_000, HOME, name=b"x", server="b"),
        op("getattr", 90_001, b"f", **file(), server="a"),
    ]
    trace = write_trace(tmp_path / "trace.parquet", rows)
    ingest([trace], tmp_path / "dataset")
    for path, name in ((trace, "one"), (tmp_path / "dataset", "two")):
        build([path], tmp_path / name)
    one, two = (pq.read_table(tmp_path / name / "operations.parquet") for name in ("one", "two"))
    assert one.equals(two)
    assert one["op"].to_pylist() == ["create", "create", "remove", "getattr"]


def test_files_of_a_dataset_that_no_record_names_are_not_read(tmp_path: Path) -> None:
    for day in (1, 2):
        rows = [lookup(90_000 * day, b"x", status=NOENT)]
        ingest([write_trace(tmp_path / f"{day}.parquet", rows)], tmp_path / "dataset")
    assert build([tmp_path / "dataset"], tmp_path / "both").calls == 2
    (tmp_path / "dataset" / "ingests" / "0002.json").unlink()
    assert build([tmp_path / "dataset"], tmp_path / "first").calls == 1


def test_traces_are_named_once_and_in_the_order_of_their_time(tmp_path: Path) -> None:
    one, two = (
        write_trace(tmp_path / f"{day}.parquet", [lookup(90_000 * day, b"x", status=NOENT)])
        for day in (1, 2)
    )
    with pytest.raises(ValueError, match="name it once"):
        build([one, one], tmp_path / "out")
    with pytest.raises(ValueError, match="in the order of their time"):
        build([two, one], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_other_directories_than_datasets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no dataset: expected a directory ingests/"):
        build([tmp_path], tmp_path / "out")


def test_a_section_without_calls_is_an_error_and_leaves_nothing(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace.parquet", [lookup(1, b"x", status=NOENT)])
    with pytest.raises(ValueError, match="no calls in the section"):
        build([trace], tmp_path / "out", first=2_000_000_000_000_000)
    assert [path.name for path in tmp_path.iterdir()] == ["trace.parquet"]


def test_a_directory_that_holds_something_is_not_built_into(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "trace.parquet", [lookup(1, b"x", status=NOENT)])
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("saved")
    with pytest.raises(FileExistsError, match="expected a directory that is empty"):
        build([trace], tmp_path / "out")
    assert (tmp_path / "out" / "mine").read_text() == "saved"


FULL = """
import resource, signal, sys
from birthmark.layout_hint.rewrite import build
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
build([sys.argv[1]], sys.argv[2])
"""


@pytest.mark.deep
def test_a_disk_that_fills_up_leaves_nothing_behind(tmp_path: Path) -> None:
    rows = [create(i, b"x%d" % (i * 7919), b"f%d" % i, **file(i)) for i in range(20_000)]
    trace = write_trace(tmp_path / "trace.parquet", rows)
    (tmp_path / "at").mkdir()
    command = [sys.executable, "-c", FULL, str(trace), str(tmp_path / "at" / "out")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "File too large" in run.stderr
    assert list((tmp_path / "at").iterdir()) == []


def test_how_unnamed_files_are_treated_is_one_of_two_ways(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"unnamed: .*'invent' or 'discard', found 'ignore'"):
        build([], tmp_path / "out", unnamed="ignore")
