"""Running on a real directory: outcomes compared, callers acted as, nothing outside touched.

Tests also research/replay/.
"""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.data import lives
from birthmark.data.samples import DAYS
from birthmark.data.traces.reader import open_trace
from birthmark.layout_hint.rewrite import build
from birthmark.layout_hint.rewrite.schema import MANIFEST, OPERATIONS
from birthmark.research.replay import run
from tests import needs
from tests.layout_hint.rewrite.made import (
    ACCES,
    HOME,
    NOENT,
    OWNER,
    PERM,
    Row,
    create,
    directory,
    file,
    lookup,
    op,
    replayed,
    replayed_trace,
    write_trace,
)

FIRST_SECONDS = 1_795_239_814_000_000  # ten seconds into the second bundled day
ALICE, BOB = {"uid": 1001, "gid": 100, "gids": [100]}, {"uid": 1002, "gid": 100, "gids": [7]}
HERS = {"owner": 1001, "group": 100}


@pytest.mark.deep
@needs.superuser
def test_calls_are_refused_to_whom_the_server_refused_them(tmp_path: Path) -> None:
    secret = file(5, 0o600, **HERS)
    rows = [
        lookup(1, b"secret", b"f", **secret, **ALICE),
        op("read", 2, b"f", count=5, reply_count=5, **secret, **ALICE),
        op("read", 3, b"f", count=5, status=ACCES, **secret, **BOB),
        op("setattr", 4, b"f", set_mode=0o666, status=PERM, **secret, **BOB),
        op("setattr", 5, b"f", set_mode=0o640, **file(5, 0o640, **HERS), **ALICE),
        op("read", 6, b"f", count=5, status=ACCES, **(BOB | {"gid": 7})),
        op("read", 7, b"f", count=5, reply_count=5, **BOB),
    ]
    found = replayed(tmp_path, rows)
    assert found.inserted == []
    assert found.ran.not_compared == 0
    assert os.geteuid() == 0


@pytest.mark.deep
@needs.superuser
def test_refusals_not_explained_by_mode_bits_are_reproduced(tmp_path: Path) -> None:
    rows = [
        op("readdir", 1, b"d", **directory(0o755), **ALICE),
        op("lookup", 2, b"d", name=b"x", status=ACCES, **ALICE),
        op("read", 3, b"f", status=ACCES, **ALICE),
        op("mkdir", 4, b"e", name=b"x", status=ACCES, uid=0, gid=0),
    ]
    found = replayed(tmp_path, rows)
    assert found.inserted == [("setattr", "denied")]
    assert [row["uid"] for row in found.operations if row["op"] == "mkdir"] == [65_534]


@pytest.mark.deep
@needs.superuser
def test_new_objects_are_their_callers_or_as_the_server_had_them(tmp_path: Path) -> None:
    open_to_all = directory(0o1777, owner=0, group=0)
    home = {"dir_" + name: value for name, value in open_to_all.items()}
    rows = [
        create(1, b"a", b"f", **file(0, 0o640, **HERS), **ALICE, **home),
        create(2, b"b", b"g", **file(0, 0o604, owner=65_534, group=65_534), uid=0, gid=0),
        op("mkdir", 3, HOME, name=b"d", new_fh=b"d", **directory(0o2775, **HERS), **BOB),
        op("remove", 4, HOME, name=b"a", status=ACCES, **BOB),
        op("symlink", 5, HOME, name=b"l", target=b"/", new_fh=b"l", ftype=5, **HERS, **ALICE),
    ]
    found = replayed(tmp_path, rows)
    left = {}
    for path in found.root.glob("*/*"):
        is_ = path.lstat()
        left[path.name] = (is_.st_uid, is_.st_gid, stat.S_IMODE(is_.st_mode))
    assert left["a"] == (1001, 100, 0o640)
    assert left["b"] == (65_534, 65_534, 0o604)
    assert left["d"] == (1001, 100, 0o2775)
    assert left["l"][:2] == (1001, 100)


@pytest.mark.deep
@needs.superuser
def test_an_owner_may_write_what_its_mode_forbids_as_over_nfs(tmp_path: Path) -> None:
    rows = [
        create(1, b"a", b"f", set_mode=0o400, **file(0, 0o400, **HERS), **ALICE),
        op("write", 2, b"f", offset=0, count=9, reply_count=9, **file(9, 0o400, **HERS), **ALICE),
    ]
    found = replayed(tmp_path, rows)
    assert found.ran.lenient == 1


@pytest.mark.deep
@needs.superuser
def test_without_the_superusers_rights_refusals_are_not_compared(tmp_path: Path) -> None:
    rows = [
        create(1, b"a", b"f", set_mode=0, **file(0, 0, **HERS), **ALICE),
        op("read", 2, b"f", status=ACCES, **BOB),
        op("write", 3, b"f", offset=0, count=9, reply_count=9, **ALICE),
        op("setattr", 4, b"f", set_owner=7, set_mode=0, uid=0, gid=0),
        lookup(5, b"b", status=NOENT),
    ]
    build([write_trace(tmp_path / "trace.parquet", rows)], tmp_path / "build")
    for path in (tmp_path, tmp_path / "build", *(tmp_path / "build").iterdir()):
        os.chown(path, 1001, 1001)
    child = os.fork()
    if child == 0:
        os.chdir(tmp_path)
        os.setgroups([])
        os.setresgid(1001, 1001, 1001)
        os.setresuid(1001, 1001, 1001)
        run("build", "root")
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    results = json.loads((tmp_path / "build" / "results.json").read_text())
    assert (results["same"], results["different"], results["not_compared"]) == (4, 0, 1)
    assert not results["superuser"]


def test_different_outcomes_are_grouped_with_the_reason(tmp_path: Path) -> None:
    rows = [
        create(1, b"x", b"f", **file()),
        op("read", 2, b"f", offset=0, count=1, reply_count=0),
        lookup(3, b"y", status=NOENT),
    ]
    build([write_trace(tmp_path / "trace.parquet", rows)], tmp_path / "build")
    path = tmp_path / "build" / "operations.parquet"
    table = pq.read_table(path)
    names = [b"n" * 300, None, b"x"]  # too long for any file system here; then it was not made
    pq.write_table(table.set_column(9, OPERATIONS.field("name"), pa.array(names)), path)
    summary = run(tmp_path / "build", tmp_path / "root")
    kinds = {(each.op, each.expected, each.got, each.reason) for each in summary.differences}
    assert kinds == {
        ("create", "OK", "ENAMETOOLONG", "a limit of this file system"),
        ("read", "OK", "ESTALE", "follows from an earlier difference"),
    }
    assert (summary.same, summary.different) == (1, 2)
    assert summary.share == pytest.approx(1 / 3)
    saved = json.loads((tmp_path / "build" / "results.json").read_text())
    assert saved["differences"][0]["count"] == 1


def test_a_directory_that_is_not_empty_is_not_worked_in(tmp_path: Path) -> None:
    build([write_trace(tmp_path / "t.parquet", [lookup(1, b"x", status=2)])], tmp_path / "build")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "mine").write_text("kept")
    with pytest.raises(FileExistsError, match="expected an empty directory"):
        run(tmp_path / "build", tmp_path / "root")
    assert [path.name for path in (tmp_path / "root").iterdir()] == ["mine"]


def test_other_directories_than_builds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="expected the directory of a build"):
        run(tmp_path, tmp_path / "root")
    pq.write_table(pa.table({"a": [1]}), tmp_path / "operations.parquet")
    with pytest.raises(ValueError, match="expected a rewritten trace's columns"):
        run(tmp_path, tmp_path / "root")


def forged(tmp_path: Path, manifest: list[Row], operations: list[Row]) -> Path:
    """A forged build."""
    out = tmp_path / "build"
    out.mkdir()
    for name, schema, rows in (
        ("manifest", MANIFEST, manifest),
        ("operations", OPERATIONS, operations),
    ):
        filled = []
        for row in rows:
            known = {"path": b"", "invented": False, "kind": "file", "time": 0, "status": 0}
            known |= {"seq": 0, "op": "lookup", "uid": OWNER, "gid": OWNER, **row}
            filled.append({each.name: known.get(each.name) for each in schema})
        pq.write_table(pa.Table.from_pylist(filled, schema=schema), out / f"{name}.parquet")
    return out


HOSTILE = [b"../x", b"/etc", b"a/b", b"a\0b", b"", None]


@pytest.mark.parametrize(
    ("procedure", "name"),
    [(procedure, name) for procedure in ("create", "lookup") for name in HOSTILE]
    + [(procedure, name) for procedure in ("remove", "rename") for name in (b".", b"..")],
)
def test_a_name_that_leads_elsewhere_is_refused(
    tmp_path: Path, procedure: str, name: bytes | None
) -> None:
    operation = {"op": procedure, "id": 0, "name": name, "id2": 0, "name2": b"n"}
    with pytest.raises(ValueError, match="operation 0: expected a name without / and NUL"):
        run(forged(tmp_path, [], [operation]), tmp_path / "root")


def test_a_manifest_cannot_name_anything_outside(tmp_path: Path) -> None:
    rows = [{"id": 1, "parent": 0, "name": b"../outside"}]
    with pytest.raises(ValueError, match=r"row 0: expected a name without / and NUL"):
        run(forged(tmp_path, rows, []), tmp_path / "root")
    assert not (tmp_path / "outside").exists()


def test_symbolic_links_are_never_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    (outside / "kept").write_text("as it was")
    link = {"kind": "symlink", "parent": 0}
    manifest = [
        {"id": 1, "name": b"dir", "target": os.fsencode(outside), **link},
        {"id": 2, "name": b"file", "target": os.fsencode(outside / "kept"), **link},
        {"id": 3, "name": b"none", "target": os.fsencode(outside / "new"), **link},
    ]
    every: list[dict[str, Any]] = [
        {"op": "create", "id": 1, "name": b"x", "how": 0},
        {"op": "create", "id": 0, "name": b"file", "how": 0, "size": 0},
        {"op": "create", "id": 0, "name": b"none", "how": 0},
        {"op": "write", "id": 2, "offset": 0, "count": 5},
        {"op": "setattr", "id": 2, "size": 0},
        {"op": "setattr", "id": 2, "mode": 0},
        {"op": "setattr", "id": 1, "mode": 0o777, "mtime": 0},
        {"op": "remove", "id": 1, "name": b"kept"},
        {"op": "readdir", "id": 1},
        {"op": "lookup", "id": 1, "name": b"kept"},
        {"op": "lookup", "id": 0, "name": b".."},
        {"op": "mkdir", "id": 1, "name": b"d"},
        {"op": "rename", "id": 1, "name": b"kept", "id2": 0, "name2": b"taken"},
        {"op": "link", "id": 2, "id2": 0, "name": b"second"},
    ]
    before = outside.stat()
    run(forged(tmp_path, manifest, every), tmp_path / "root")
    assert (outside / "kept").read_text() == "as it was"
    assert [path.name for path in outside.iterdir()] == ["kept"]
    after = outside.stat()
    assert (before.st_mode, before.st_mtime_ns) == (after.st_mode, after.st_mtime_ns)
    assert (tmp_path / "root" / "second").is_symlink()


def test_devices_are_made_as_fifos_and_sockets_as_sockets(tmp_path: Path) -> None:
    rows = [
        op("mknod", 1, HOME, name=b"null", new_fh=b"n", set_ftype=4, ftype=4, mode=0o666),
        op("mknod", 2, HOME, name=b"sock", new_fh=b"s", set_ftype=6, ftype=6, mode=0o600),
        op("setattr", 3, b"n", set_mode=0o600, ftype=4),
        op("setattr", 3, b"s", set_mode=0o640, ftype=6),
        lookup(4, b"disk", b"d", ftype=3, mode=0o660),
    ]
    found = replayed(tmp_path, rows)
    modes = {path.name: path.stat().st_mode for path in found.root.glob("*/*")}
    assert stat.S_ISFIFO(modes["null"])
    assert stat.S_ISFIFO(modes["disk"])
    assert stat.S_ISSOCK(modes["sock"])
    assert modes["sock"] & stat.S_IRGRP


def test_results_can_be_written_elsewhere_and_writes_flushed(tmp_path: Path) -> None:
    rows = [
        create(1, b"a", b"f", **file()),
        op("write", 2, b"f", offset=0, count=3_000_000, reply_count=3_000_000),
        op("commit", 3, b"f"),
    ]
    build([write_trace(tmp_path / "trace.parquet", rows)], tmp_path / "build")
    run(tmp_path / "build", tmp_path / "root", flush=True, results=tmp_path / "mine.json")
    assert json.loads((tmp_path / "mine.json").read_text())["same"] == 3
    assert not (tmp_path / "build" / "results.json").exists()
    [path] = (tmp_path / "root").glob("*/a")
    assert path.stat().st_size == 3_000_000


@pytest.mark.deep
def test_part_of_a_bundled_day_ends_as_it_did(tmp_path: Path) -> None:
    found = replayed_trace(tmp_path, DAYS[1])
    assert found.ran.differences == []
    assert found.ran.operations == found.built.calls == 93_989
    assert found.inserted == []
    compared_with_lives(DAYS[1], found.root)


def compared_with_lives(trace: Path, root: Path) -> None:
    """The result must match the lives of files and names, which another program derives."""
    files, names = lives.tables(open_trace(trace))
    alive = [row for row in names.to_pylist() if row["died"] is None]
    above = {row["fh"]: (row["dir_fh"], row["name"]) for row in alive if row["kind"] == "directory"}
    sizes = {
        row["fh"]: row["last_size"]
        for row in files.to_pylist()
        if row["died"] is None and row["kind"] == "file"
    }
    checked = 0
    [top] = root.iterdir()
    for row in alive:
        if row["birth_seen"] and row["fh"] in sizes:
            parts, fh = [row["name"]], row["dir_fh"]
            while fh in above:
                fh, name = above[fh]
                parts.append(name)
            path = top.joinpath(*map(os.fsdecode, reversed(parts)))
            assert path.is_file(), path
            if row["file_writes"]:
                assert path.stat().st_size == sizes[row["fh"]], path
            checked += 1
    assert checked > 1_000


@pytest.mark.deep
def test_a_bundled_day_can_be_begun_in_the_middle(tmp_path: Path) -> None:
    found = replayed_trace(tmp_path, DAYS[1], first=FIRST_SECONDS, last=FIRST_SECONDS + 10_000_000)
    assert found.ran.differences == []
    assert found.ran.operations == found.built.calls > 10_000
    if os.geteuid() == 0:  # who else runs it cannot set owners
        assert found.ran.not_compared == 0


def test_a_capture_ends_as_it_did(shared: Path, tmp_path: Path) -> None:
    found = replayed_trace(tmp_path, shared / "captures" / "tiny.pcap")
    assert found.ran.differences == []
    assert (found.ran.operations, found.inserted) == (343, [])


def test_the_sample_of_a_published_trace_ends_as_it_did(shared: Path, tmp_path: Path) -> None:
    found = replayed_trace(tmp_path, shared / "reference" / "ellard-raw-data.txt")
    assert found.ran.differences == []
    assert found.built.calls == found.ran.operations + sum(found.built.left_out.values())
