"""Lives of files that NFS version 4 opens, closes and walks to, from handmade operations.

Each compound is a list of operations; times are seconds, and a reply takes a millisecond.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data import lives
from birthmark.data.schema import OPERATIONS

Row = dict[str, Any]
UNCHECKED, GUARDED, EXCLUSIVE, EXCLUSIVE_4_1 = 0, 1, 2, 3  # createmode4, RFC 8881 18.16.1
MODE_SET = bytes([0, 0, 0, 0, 0, 0, 0, 2])  # bit 33
NOTHING_SET = b""
NOENT, STALE = 2, 70  # nfsstat4, RFC 7530 section 13


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def op(operation: str, fh: bytes | None, **more: object) -> Row:
    return {"op": operation, "fh": fh, "status": 0, **more}


def open_op(name: bytes, new_fh: bytes, how: int | None = UNCHECKED, **more: object) -> Row:
    return op("open", b"dir", name=name, new_fh=new_fh, how=how, open_claim=0, **more)


def changed(before: int, after: int, atomic: bool = True) -> Row:
    return {"dir_change_atomic": atomic, "dir_pre_change": before, "dir_change": after}


def build(*compounds: list[Row]) -> tuple[dict[bytes, Row], list[Row]]:
    """The files by handle, and the names, of compounds a second apart."""
    rows = []
    for second, compound in enumerate(compounds, start=1):
        for index, row in enumerate(compound):
            head = {
                "time": at(second),
                "reply_time": at(second + 0.001),
                **dict.fromkeys(("server_port", "client_port", "xid", "retransmits"), 0),
                **{"server": "nfs", "client": "host", "transport": "tcp", "version": 4},
                **{"duplicate_replies": 0, "short": False, "compound_index": index},
            }
            rows.append(head | row)
    files, names = lives.tables(pa.Table.from_pylist(rows, schema=OPERATIONS).to_batches())
    return {row["fh"]: row for row in files.to_pylist()}, names.to_pylist()


def test_a_file_is_born_by_an_open_that_creates_and_dies_by_remove() -> None:
    files, names = build(
        [
            op("putfh", b"dir"),
            open_op(b"a", b"A", GUARDED, set_mode=0o644, uid=7, owner=7, size=0),
            op("getfh", b"A"),
            op("getattr", b"A", owner=7, size=0),
        ],
        [op("putfh", b"A"), op("write", b"A", offset=0, count=10, reply_count=10)],
        [op("putfh", b"A"), op("close", b"A")],
        [op("putfh", b"dir"), op("remove", b"dir", name=b"a")],
    )
    file = files[b"A"]
    assert (file["born"], file["how_born"], file["mode"]) == (at(1.001), "create", 0o644)
    assert (file["last_closed"], file["died"]) == (at(3.001), at(4.001))
    assert (file["kind"], file["owner"], file["uid"]) == ("file", 7, 7)
    assert (file["writes"], file["bytes_written"], file["max_size"]) == (1, 10, 10)
    # handles that were put and got are no operations on the file
    assert file["operations"] == 1 + 1 + 1 + 1 + 1
    assert [(row["name"], row["how_died"]) for row in names] == [(b"a", "remove")]


def test_an_open_that_does_not_create_shows_a_name() -> None:
    files, names = build([op("putfh", b"dir"), open_op(b"a", b"A", None, ftype=1)])
    assert (files[b"A"]["birth_seen"], files[b"A"]["name"]) == (False, b"a")
    assert [row["birth_seen"] for row in names] == [False]


@pytest.mark.parametrize(
    ("reply", "born"),
    [
        (changed(1, 2) | {"attributes_set": MODE_SET}, True),
        # nothing was made in the directory, and the mode was not set
        (changed(1, 1) | {"attributes_set": NOTHING_SET}, False),
        # change attributes that are times may be too coarse
        (changed(1, 1) | {"attributes_set": MODE_SET}, True),
        # others may have changed the directory: as in version 3, the attributes decide
        (changed(1, 2, atomic=False) | {"attributes_set": NOTHING_SET}, True),
        (changed(1, 2, atomic=False) | {"attributes_set": MODE_SET, "size": 5}, False),
        ({}, True),
    ],
)
def test_an_unchecked_open_is_a_birth_if_it_made_the_file(reply: Row, born: bool) -> None:
    files, _ = build([open_op(b"a", b"A", set_mode=0o600, **reply)])
    assert files[b"A"]["birth_seen"] == born


def test_an_open_that_changed_the_directory_made_the_file_whatever_was_known() -> None:
    files, names = build(
        [open_op(b"a", b"A", set_mode=0o600, **changed(1, 2))],
        [open_op(b"a", b"B", set_mode=0o600, **changed(5, 6))],
        [open_op(b"a", b"B", set_mode=0o600, **changed(6, 6), attributes_set=NOTHING_SET)],
    )
    assert (files[b"A"]["birth_seen"], files[b"A"]["death_seen"]) == (True, False)
    assert files[b"B"]["born"] == at(2.001)
    assert [row["birth_seen"] for row in names] == [True, True]


def test_an_exclusive_open_of_4_1_carries_a_mode_and_its_umask() -> None:
    plain = open_op(b"a", b"A", EXCLUSIVE, set_mode=None)
    more = open_op(b"b", b"B", EXCLUSIVE_4_1, set_mode=0o666, set_umask=0o027)
    files, _ = build([plain], [more])
    assert (files[b"A"]["mode"], files[b"B"]["mode"]) == (None, 0o640)
    # sent again, it finds what it made
    again, _ = build([more], [more])
    assert again[b"B"]["born"] == at(1.001)


def test_putfh_reports_a_stale_handle() -> None:
    files, _ = build([open_op(b"a", b"A")], [op("putfh", b"A", status=STALE)])
    assert not files[b"A"]["death_seen"]
    assert files[b"A"]["observed_until"] == at(1.001)


def test_a_name_that_cannot_be_opened_is_gone() -> None:
    gone = op("open", b"dir", name=b"a", status=NOENT, open_claim=0)
    _, names = build([open_op(b"a", b"A", GUARDED)], [gone], [op("getattr", b"dir")])
    assert names[0]["observed_until"] == at(1.001)
    # a create shows that its directory is gone, but nothing about the name
    _, names = build([open_op(b"a", b"A", GUARDED)], [gone | {"how": 0}], [op("getattr", b"dir")])
    assert names[0]["observed_until"] == at(3.001)


def test_a_walk_by_names_leads_to_the_directories_that_had_them() -> None:
    root = [op("putfh", b"root")]
    files, names = build(
        [*root, op("lookup", b"root", name=b"home", new_fh=b"H", ftype=2)],
        [*root, op("lookup", b"root", name=b"home"), op("mkdir", None, name=b"d", new_fh=b"D")],
        [
            *root,
            op("lookup", b"root", name=b"home"),
            op("getattr", None),
            op("lookup", None, name=b"d"),
            op("open", None, name=b"a", new_fh=b"A", how=GUARDED, open_claim=0),
        ],
        [
            *root,
            op("lookup", b"root", name=b"home"),
            op("savefh", None),
            op("putfh", b"root"),
            op("lookup", b"root", name=b"home"),
            op("lookup", None, name=b"d"),
            op("rename", None, name=b"x", fh2=None, name2=b"y"),
        ],
        [*root, op("lookup", b"root", name=b"elsewhere"), op("mkdir", None, name=b"lost")],
    )
    assert files[b"D"]["dir_fh"] == b"H"
    assert (files[b"A"]["dir_fh"], files[b"A"]["dir_name"]) == (b"D", b"d")
    moved = [(row["dir_fh"], row["name"], row["how_died"]) for row in names if row["name"] in b"xy"]
    assert sorted(moved) == [(b"D", b"y", None), (b"H", b"x", "rename")]
    assert not [row for row in names if row["name"] == b"lost"]


def test_a_walk_ends_with_its_compound() -> None:
    root = [op("putfh", b"root")]
    _, names = build(
        [*root, op("lookup", b"root", name=b"home", new_fh=b"H", ftype=2)],
        [*root, op("lookup", b"root", name=b"home")],
        [op("mkdir", None, name=b"d", new_fh=b"D")],
    )
    assert [row["name"] for row in names] == [b"home"]


def test_a_link_to_a_file_reached_by_names_is_a_name_of_it() -> None:
    root = [op("putfh", b"root")]
    _, names = build(
        [*root, open_op(b"a", b"A", GUARDED) | {"fh": b"root"}],
        [
            *root,
            op("lookup", b"root", name=b"a"),
            op("savefh", None),
            op("putfh", b"root"),
            op("link", None, fh2=b"root", name=b"b"),
        ],
    )
    assert sorted((row["fh"], row["name"]) for row in names) == [(b"A", b"a"), (b"A", b"b")]


def test_data_read_with_their_holes_are_read() -> None:
    files, _ = build([op("read_plus", b"A", reply_count=100)])
    assert (files[b"A"]["reads"], files[b"A"]["bytes_read"]) == (1, 100)
