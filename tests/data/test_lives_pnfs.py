"""Lives of files of pNFS, whose data are on data servers: on disk, and in captured traffic."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from itertools import takewhile
from operator import itemgetter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data import lives
from birthmark.data.traces.reader import open_trace
from birthmark_native import LivesBuilder
from tests import needs
from tests.builders.operations import Row, batch, op, parse_operations

LAID_OUT = """\
1 open dir/a A how=guarded ftype=file size=0
2 layoutget A layout_type=flexible
  entry - D1 cookie=0
  entry - D2 cookie=1
"""


def files(tables: Iterable[pa.RecordBatch]) -> list[Row]:
    """Return the files, sorted."""
    return sorted((row for table in tables for row in table.to_pylist()), key=itemgetter("fh"))


def test_handles_of_data_servers_are_kept_on_disk_and_in_snapshots(tmp_path: Path) -> None:
    before = parse_operations(LAID_OUT) + [op("getattr", 3, b"%d" % n, ftype=1) for n in range(40)]
    writes = "write D2 server=ds2 offset=0 count=10\n5 write D1 server=ds1 offset=0 count=10"
    whole = batch(*before, *parse_operations(f"4 {writes}"))
    expected = files(lives.tables([whole])[0].to_batches())
    assert [row["writes"] for row in expected if row["name"] == b"a"] == [1]
    assert files(lives.tables([whole], max_live=5)[0].to_batches()) == expected
    builder = LivesBuilder(5)
    builder.update(whole.slice(0, len(before)))
    builder.save(tmp_path / "lives")
    resumed = LivesBuilder.load(tmp_path / "lives")
    resumed.update(whole.slice(len(before)))
    resumed.finish()
    ended = iter(resumed.take_files, None)
    assert files(takewhile(len, ended)) == expected


def test_tables_from_before_there_were_columns_of_layouts_are_read() -> None:
    builder = LivesBuilder()
    builder.update(batch(*parse_operations(LAID_OUT)).drop_columns(["stripe_unit", "last_offset"]))
    builder.finish()
    assert builder.take_files().num_rows == 2


def public(shared: Path, name: str) -> tuple[list[Row], list[Row], dict[str, Any]]:
    """Files and names of one of the reference captures, and its counts."""
    path = shared / "captures" / "public" / f"{name}.pcap"
    if not path.exists():
        pytest.skip(f"needs {path}")
    trace = open_trace(path)
    made, names = lives.tables(trace)
    return made.to_pylist(), names.to_pylist(), trace.counts()


def test_a_captured_file_layout_gives_one_file_with_what_was_written(shared: Path) -> None:
    made, _, _ = public(shared, "pnfs-file-layout")
    found = [row for row in made if row["name"]]
    assert (len(made), [row["name"] for row in found]) == (2, [b"striped.dat"])
    (file,) = found
    assert (file["bytes_written"], file["max_size"], file["birth_seen"]) == (1024, 1024, True)


def test_a_captured_create_and_remove_that_kerberos_signed_are_a_life(shared: Path) -> None:
    made, names, counts = public(shared, "krb5i-create-remove")
    (file,) = [row for row in made if row["name"] == b"signed.txt"]
    assert (file["birth_seen"], file["death_seen"], file["mode"]) == (True, True, 0o640)
    assert [(row["how_born"], row["how_died"]) for row in names] == [("create", "remove")]
    assert (counts["short"], counts["damaged"]) == (0, {})
    assert [counts["procedures"][name]["ok"] for name in ("create", "remove")] == [1, 1]


def dissected(path: Path, *fields: str) -> list[list[list[str]]]:
    """The fields that tshark finds in each message of a capture: lists of values by field."""
    options = [option for field in fields for option in ("-e", field)]
    command = [needs.program("tshark"), "-r", str(path), "-Y", "nfs", "-T", "fields", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line.split("\t") for line in run.stdout.splitlines()]
    return [[value.split(",") if value else [] for value in line] for line in lines]


def test_signed_messages_hold_what_tshark_finds_in_them(shared: Path) -> None:
    public(shared, "krb5i-create-remove")
    path = shared / "captures" / "public" / "krb5i-create-remove.pcap"
    rows = [row for made in open_trace(path) for row in made.to_pylist()]
    by_xid = {row["xid"]: row for row in rows}
    fields = (
        "rpc.xid",
        "rpc.msgtyp",
        "nfs.name",
        "nfs.fhandle",
        "nfs.status3",
        "nfs.fattr3.fileid",
    )
    frames = dissected(path, *fields)
    assert len(frames) == 2 * len(rows) == 4
    for (xid,), (way,), names, handles, statuses, fileids in frames:
        row = by_xid[int(xid, 16)]
        if way == "0":
            assert ([row["name"].decode()], [row["fh"].hex()]) == (names, handles)
        else:
            shown = [row["new_fh"].hex()] if row["new_fh"] else []
            assert ([str(row["status"])], shown) == (statuses, handles)
            assert ([] if row["fileid"] is None else [str(row["fileid"])]) == fileids


def test_a_layout_names_the_handles_that_tshark_finds_in_it(shared: Path) -> None:
    public(shared, "pnfs-file-layout")
    path = shared / "captures" / "public" / "pnfs-file-layout.pcap"
    rows = [row for made in open_trace(path) for row in made.to_pylist()]
    (row,) = [row for row in rows if row["op"] == "layoutget"]
    (shown,) = [
        handles
        for (way,), opcodes, handles in dissected(path, "rpc.msgtyp", "nfs.opcode", "nfs.fhandle")
        if way == "1" and "50" in opcodes
    ]
    named = [entry["fh"].hex() for entry in row["entries"]]
    assert [row["fh"].hex(), *named] == shown
