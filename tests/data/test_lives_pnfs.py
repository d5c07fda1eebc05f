"""Lives of files of pNFS, whose data are on data servers, from handmade operations.

Operations are a second apart, and a reply takes a millisecond.
"""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data import lives
from birthmark.data.schema import OPERATIONS
from birthmark.data.traces.reader import open_trace
from birthmark_native import LivesBuilder
from tests import needs

Row = dict[str, Any]
FILES, OBJECTS, FLEXIBLE = 1, 2, 4  # layouttype4, RFC 8881 3.3.13 and RFC 8435
DENSE = 64 << 10 | 1  # nfl_util4: stripes of 64 KiB, contiguous


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def op(operation: str, fh: bytes, **more: object) -> Row:
    return {"op": operation, "fh": fh, "status": 0, **more}


CREATED = op("open", b"dir", name=b"a", new_fh=b"A", how=1, ftype=1, size=0, owner=7)


def layout(*handles: bytes | tuple[bytes, int], fh: bytes = b"A", **more: object) -> Row:
    """A layoutget on the metadata server: handles, those of flexible files with their mirrors."""
    pairs = [each if isinstance(each, tuple) else (each, 0) for each in handles]
    entries = [{"fh": handle, "cookie": mirror} for handle, mirror in pairs]
    return op("layoutget", fh, entries=entries, **{"layout_type": FILES, **more})


def write(fh: bytes, offset: int, count: int, server: str = "ds1", **more: object) -> Row:
    moved = {"offset": offset, "count": count, "reply_count": count}
    return op("write", fh, server=server, **moved, **more)


def batch(*rows: Row) -> pa.RecordBatch:
    """A batch of operations."""
    head = {
        **dict.fromkeys(("server_port", "client_port", "xid", "retransmits"), 0),
        **{"server": "mds", "client": "host", "transport": "tcp", "version": 4},
        **{"duplicate_replies": 0, "short": False, "compound_index": 1},
    }
    timed = [
        head | {"time": at(second), "reply_time": at(second + 0.001)} | row
        for second, row in enumerate(rows, start=1)
    ]
    (made,) = pa.Table.from_pylist(timed, schema=OPERATIONS).to_batches()
    return made


def files(*rows: Row, max_live: int = 1000) -> dict[bytes, Row]:
    """The files by handle."""
    table, _ = lives.tables([batch(*rows)], max_live)
    found = {row["fh"]: row for row in table.to_pylist()}
    assert len(found) == len(table)
    return found


def test_reads_and_writes_by_a_data_servers_handle_count_for_the_created_file() -> None:
    read = op("read", b"D", server="ds1", count=100, reply_count=60)
    found = files(
        CREATED, layout(b"D"), write(b"D", 0, 1024), read, op("commit", b"D", server="ds1")
    )
    assert set(found) == {b"dir", b"A"}
    file = found[b"A"]
    assert (file["writes"], file["bytes_written"], file["max_size"]) == (1, 1024, 1024)
    assert (file["reads"], file["bytes_read"], file["last_seen"]) == (1, 60, at(5.001))
    assert (file["observed_until"], file["operations"]) == (at(5.001), 5)


def test_attributes_of_a_data_servers_object_are_not_the_files() -> None:
    shown = {"ftype": 1, "size": 5, "owner": 99, "nlink": 3}
    found = files(
        CREATED,
        layout(b"D"),
        write(b"D", 0, 1024, version=3, **shown),
        op("getattr", b"D", server="ds1", **shown),
    )
    file = found[b"A"]
    assert (file["owner"], file["last_size"], file["operations"]) == (7, 1024, 4)
    assert set(found) == {b"dir", b"A"}


def test_every_stripe_of_a_file_counts() -> None:
    writes = [write(b"D1", 0, 10, "ds1"), write(b"D2", 10, 10, "ds2"), write(b"D3", 20, 5, "ds3")]
    file = files(CREATED, layout(b"D1", b"D2", b"D3", stripe_unit=64 << 10), *writes)[b"A"]
    assert (file["writes"], file["bytes_written"], file["max_size"]) == (3, 25, 25)


def test_the_size_with_dense_stripes_is_known_after_the_layoutcommit() -> None:
    rows = [
        CREATED,
        layout(b"D1", b"D2", stripe_unit=DENSE),
        write(b"D1", 0, 64 << 10, "ds1"),
        write(b"D2", 0, 64 << 10, "ds2"),
    ]
    file = files(*rows)[b"A"]
    assert (file["bytes_written"], file["max_size"]) == (128 << 10, 0)
    file = files(*rows, op("layoutcommit", b"A", last_offset=(128 << 10) - 1))[b"A"]
    assert (file["bytes_written"], file["max_size"], file["last_size"]) == (128 << 10,) * 3
    # with one stripe, offsets are the file's
    file = files(CREATED, layout(b"D1", stripe_unit=DENSE), write(b"D1", 7, 5))[b"A"]
    assert file["max_size"] == 12


def test_a_write_to_two_mirrors_counts_once() -> None:
    mirrored = layout((b"D1", 0), (b"D2", 1), layout_type=FLEXIBLE)
    both = [write(b"D1", 0, 10, "ds1"), write(b"D2", 0, 10, "ds2")]
    found = files(CREATED, mirrored, *both, op("read", b"D2", server="ds2", reply_count=4))
    file = found[b"A"]
    assert set(found) == {b"dir", b"A"}
    assert (file["writes"], file["bytes_written"], file["max_size"]) == (1, 10, 10)
    assert (file["bytes_read"], file["last_seen"]) == (4, at(5.001))
    # also where the server lists the mirrors the other way round, or the file again
    swapped = layout((b"D2", 0), (b"D1", 1), layout_type=FLEXIBLE)
    for again in (swapped, mirrored):
        assert files(CREATED, mirrored, again, *both)[b"A"]["bytes_written"] == 10


def test_a_write_to_two_mirrors_that_know_the_file_by_one_handle_counts_once() -> None:
    mirrored = layout((b"D", 0), (b"D", 1), layout_type=FLEXIBLE)
    both = [write(b"D", 0, 10, "ds1"), write(b"D", 0, 10, "ds2"), write(b"D", 10, 10, "ds1")]
    file = files(CREATED, mirrored, *both)[b"A"]
    assert (file["writes"], file["bytes_written"], file["max_size"]) == (2, 20, 20)


def test_stripes_that_share_one_handle_all_count() -> None:
    found = files(CREATED, layout(b"D"), write(b"D", 0, 10, "ds1"), write(b"D", 10, 10, "ds2"))
    assert found[b"A"]["bytes_written"] == 20


def test_data_servers_may_know_a_file_by_its_own_handle() -> None:
    for named in (layout(), layout(b"A")):
        found = files(CREATED, named, write(b"A", 0, 10, "ds1"), write(b"A", 10, 5, "mds"))
        assert set(found) == {b"dir", b"A"}
        assert (found[b"A"]["writes"], found[b"A"]["bytes_written"]) == (2, 15)


def test_a_layout_of_objects_names_no_handle() -> None:
    table, _ = lives.tables([batch(CREATED, layout(layout_type=OBJECTS), write(b"A", 0, 9))])
    written = {
        row["server"]: row["bytes_written"] for row in table.to_pylist() if row["fh"] == b"A"
    }
    assert written == {"mds": 0, "ds1": 9}


def test_a_handle_is_the_files_that_a_layout_named_it_for_last() -> None:
    other = op("open", b"dir", name=b"b", new_fh=b"B", how=1, ftype=1)
    removed = op("remove", b"dir", name=b"a")
    for end in ([], [removed]):
        found = files(
            *[CREATED, layout(b"D"), write(b"D", 0, 1)],
            *[*end, other, layout(b"D", fh=b"B"), write(b"D", 0, 10)],
        )
        assert (found[b"A"]["bytes_written"], found[b"B"]["bytes_written"]) == (1, 10)


def test_a_write_that_a_removal_overtook_makes_no_file() -> None:
    late = write(b"D", 0, 10, time=at(2.5))
    found = files(CREATED, layout(b"D"), op("remove", b"dir", name=b"a"), late)
    assert set(found) == {b"dir", b"A"}


def test_a_file_of_the_data_server_itself_keeps_its_other_operations() -> None:
    made = op("create", b"pool", name=b"object", new_fh=b"D", server="ds1", version=3, how=1)
    found = files(
        made, CREATED, layout(b"D"), write(b"D", 0, 10), op("getattr", b"D", server="ds1")
    )
    assert (found[b"A"]["bytes_written"], found[b"D"]["operations"]) == (10, 2)


@pytest.mark.parametrize("operation", ["write", "read"])
def test_a_call_to_a_data_server_that_was_not_answered_may_have_touched_the_file(
    operation: str,
) -> None:
    lost = op(operation, b"D", server="ds1", status=None, reply_time=None)
    assert files(CREATED, layout(b"D"), lost)[b"A"]["loss_nearby"]


def test_handles_of_data_servers_are_kept_on_disk_and_in_snapshots(tmp_path: Path) -> None:
    others = [op("getattr", b"%d" % number, ftype=1) for number in range(40)]
    rows = [CREATED, layout((b"D1", 0), (b"D2", 1), layout_type=FLEXIBLE), *others]
    more = [write(b"D2", 0, 10, "ds2"), write(b"D1", 0, 10, "ds1")]
    expected = files(*rows, *more)
    assert expected[b"A"]["bytes_written"] == 10
    assert files(*rows, *more, max_live=5) == expected
    whole = batch(*rows, *more)
    builder = LivesBuilder(5)
    builder.update(whole.slice(0, len(rows)))
    builder.save(tmp_path / "lives")
    resumed = LivesBuilder.load(tmp_path / "lives")
    resumed.update(whole.slice(len(rows)))
    resumed.finish()
    found = []
    while (ended := resumed.take_files()).num_rows:
        found += ended.to_pylist()
    assert {row["fh"]: row for row in found} == expected


def test_tables_from_before_there_were_columns_of_layouts_are_read() -> None:
    made = batch(CREATED, layout(b"D"))
    builder = LivesBuilder()
    builder.update(
        made.select([n for n in made.schema.names if n not in ("stripe_unit", "last_offset")])
    )
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
