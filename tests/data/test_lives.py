"""File lives and name lives, from handmade operations.

Operations are written as dicts, with times in seconds; a reply takes a millisecond.
"""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data import lives
from birthmark.data.schema import FILES, NAMES, TIME, WORD
from birthmark_native import LivesBuilder

ATTRIBUTES: dict[str, pa.DataType] = {
    "ftype": pa.uint8(),
    "nlink": pa.uint32(),
    "owner": pa.uint32(),
    "group": pa.uint32(),
    "size": pa.uint64(),
    "atime": TIME,
    "mtime": TIME,
}
ENTRY = pa.struct({"name": pa.binary(), "fh": pa.binary(), **ATTRIBUTES, "ctime": TIME})
COLUMNS: dict[str, pa.DataType] = {
    "time": TIME,
    "reply_time": TIME,
    "server": WORD,
    "client": WORD,
    "op": WORD,
    "status": pa.uint32(),
    "uid": pa.uint32(),
    "gid": pa.uint32(),
    **dict.fromkeys(["fh", "name", "fh2", "name2", "new_fh"], pa.binary()),
    "offset": pa.uint64(),
    "count": pa.uint32(),
    "how": pa.uint8(),
    "set_ftype": pa.uint8(),
    "set_mode": pa.uint32(),
    "set_size": pa.uint64(),
    "set_atime_how": pa.uint8(),
    "set_mtime_how": pa.uint8(),
    "reply_count": pa.uint32(),
    **ATTRIBUTES,
    "ctime": TIME,
    **{f"dir_{name}": kind for name, kind in ATTRIBUTES.items()},
    "dir_pre_mtime": TIME,
    **{f"dir2_{name}": kind for name, kind in ATTRIBUTES.items()},
    "entries": pa.list_(ENTRY),
}
UNCHECKED, GUARDED, EXCLUSIVE = 0, 1, 2  # createmode3, RFC 1813 section 3.3.8
FILE, DIRECTORY, FIFO = 1, 2, 7  # ftype3, RFC 1813 section 2.6
NOENT, ACCES, STALE = 2, 13, 70  # nfsstat3, RFC 1813 section 2.6

Row = dict[str, Any]


def micros(seconds: float) -> int:
    return round(seconds * 1_000_000)


def batch(*rows: Row) -> pa.RecordBatch:
    """A batch of operations; a row has the differences from a successful call of one client."""
    arrays = []
    rows = tuple({"server": "nfs", "client": "host", "status": 0, **row} for row in rows)
    for row in rows:
        row.setdefault("reply_time", None if row["status"] is None else row["time"] + 0.001)
    for name, kind in COLUMNS.items():
        values = [row.get(name) for row in rows]
        if kind == TIME:
            values = [None if value is None else micros(value) for value in values]
        arrays.append(pa.array(values, kind))
    return pa.RecordBatch.from_arrays(arrays, names=list(COLUMNS))


def op(procedure: str, time: float, fh: bytes, **more: object) -> Row:
    return {"op": procedure, "time": time, "fh": fh, **more}


def create(time: float, name: bytes, fh: bytes | None, **more: object) -> Row:
    return op("create", time, b"dir", name=name, new_fh=fh, **more)


def lookup(time: float, name: bytes, fh: bytes, **more: object) -> Row:
    return op("lookup", time, b"dir", name=name, new_fh=fh, **more)


def remove(time: float, name: bytes, **more: object) -> Row:
    return op("remove", time, b"dir", name=name, **more)


def rename(time: float, old: bytes, new: bytes, **more: object) -> Row:
    return op("rename", time, b"dir", name=old, fh2=b"dir", name2=new, **more)


def link(time: float, fh: bytes, name: bytes, **more: object) -> Row:
    return op("link", time, fh, fh2=b"dir", name=name, **more)


def seconds(row: Row) -> Row:
    """A row of the result with its times in seconds."""
    return {
        key: value.timestamp() if hasattr(value, "timestamp") else value
        for key, value in row.items()
    }


def build(*rows: Row) -> tuple[list[Row], list[Row]]:
    """The rows of both tables, without those of the directory ``dir`` that all names are in."""
    files, names = lives.tables([batch(*rows)])
    keep = [seconds(row) for row in files.to_pylist() if row["fh"] != b"dir"]
    return keep, [seconds(row) for row in names.to_pylist()]


def the_file(*rows: Row) -> Row:
    files, _ = build(*rows)
    assert len(files) == 1, files
    return files[0]


def test_the_native_tables_have_the_schemas_of_the_data_package():
    builder = LivesBuilder()
    assert builder.take_files().schema.equals(FILES)
    assert builder.take_names().schema.equals(NAMES)


def test_the_tables_carry_the_documentation_of_each_column():
    files, names = lives.tables([batch(create(1, b"a", b"A"))])
    assert files.schema.equals(FILES, check_metadata=True)
    assert names.schema.equals(NAMES, check_metadata=True)


def test_a_lock_files_inode_and_its_two_names_live_for_different_times():
    """Thesis 6.3.5: create a unique name, link the lock to it, remove the unique name."""
    files, names = build(
        create(1, b"lock.host.1", b"L", how=EXCLUSIVE, size=0, nlink=1, ftype=FILE),
        link(2, b"L", b"lock"),
        remove(3, b"lock.host.1"),
        remove(5, b"lock"),
    )
    assert [(f["born"], f["died"], f["how_died"]) for f in files] == [(1.001, 5.001, "remove")]
    assert [(n["name"], n["how_born"], n["born"], n["died"]) for n in names] == [
        (b"lock.host.1", "create", 1.001, 3.001),
        (b"lock", "link", 2.001, 5.001),
    ]
    assert all(n["fh"] == b"L" and n["death_seen"] and n["file_writes"] == 0 for n in names)
    assert files[0]["name"] == b"lock.host.1"
    assert files[0]["max_size"] == 0


def test_link_counts_in_the_replies_agree_with_those_inferred():
    files, names = build(
        create(1, b"u", b"L", nlink=1),
        link(2, b"L", b"lock", nlink=2),
        op("getattr", 2.5, b"L", nlink=2),
        remove(3, b"u"),
        op("getattr", 4, b"L", nlink=1),
        remove(5, b"lock"),
    )
    assert [f["died"] for f in files] == [5.001]
    assert len(names) == 2


def test_attributes_asked_for_before_a_removal_do_not_bring_back_the_link():
    file = the_file(
        create(1, b"u", b"L"),
        link(2, b"L", b"lock"),
        remove(3, b"u"),
        op("getattr", 2.9, b"L", nlink=2, reply_time=3.1),
        remove(5, b"lock"),
    )
    assert file["died"] == 5.001


def test_a_silly_rename_is_a_rename_and_a_removal():
    files, names = build(
        create(1, b"a", b"A"),
        rename(2, b"a", b".nfs0001"),
        remove(9, b".nfs0001"),
    )
    assert [(f["name"], f["died"], f["how_died"]) for f in files] == [(b"a", 9.001, "remove")]
    assert [(n["name"], n["how_born"], n["how_died"], n["died"]) for n in names] == [
        (b"a", "create", "rename", 2.001),
        (b".nfs0001", "rename", "remove", 9.001),
    ]


def test_a_rename_over_a_file_ends_its_name_and_the_file():
    files, names = build(
        create(1, b"new", b"N"),
        create(2, b"old", b"O"),
        rename(3, b"new", b"old"),
    )
    (dead, alive) = files
    assert (dead["fh"], dead["how_died"], dead["died"]) == (b"O", "rename", 3.001)
    assert (alive["fh"], alive["death_seen"]) == (b"N", False)
    assert [(n["fh"], n["name"], n["how_died"]) for n in names] == [
        (b"O", b"old", "overwritten"),
        (b"N", b"new", "rename"),
        (b"N", b"old", None),
    ]


def test_a_rename_between_two_names_of_one_file_does_nothing():
    """RFC 1813 section 3.3.14, after POSIX: both names stay."""
    files, names = build(
        create(1, b"a", b"A"), link(2, b"A", b"b"), rename(3, b"a", b"b"), remove(9, b"x")
    )
    assert [f["death_seen"] for f in files] == [False]
    assert {(n["name"], n["death_seen"]) for n in names} == {
        (b"a", False),
        (b"b", False),
        (b"x", True),
    }


def test_a_rename_over_one_of_two_links_leaves_the_file_alive():
    files, _ = build(
        create(1, b"a", b"A"),
        link(2, b"A", b"b"),
        create(3, b"new", b"N"),
        rename(4, b"new", b"a"),
        remove(5, b"b"),
    )
    assert [(f["fh"], f["how_died"]) for f in files] == [(b"A", "remove"), (b"N", None)]


def test_a_rename_of_a_name_never_seen_makes_two_names_and_the_lookup_gives_the_file():
    files, names = build(rename(1, b"a", b"b"), lookup(2, b"b", b"B", ftype=FILE))
    (gone, made) = names
    assert (gone["name"], gone["fh"], gone["birth_seen"], gone["died"]) == (
        b"a",
        None,
        False,
        1.001,
    )
    assert (made["name"], made["fh"], made["born"], made["kind"]) == (b"b", b"B", 1.001, "file")
    assert [(f["fh"], f["birth_seen"], f["name"]) for f in files] == [(b"B", False, b"b")]
    assert made["file_writes"] is None  # earlier writes are unknown


def test_an_exclusive_create_has_no_mode_although_a_setattr_follows_at_once():
    """RFC 1813 section 3.3.8: the arguments hold a verifier where attributes would be."""
    file = the_file(
        create(1, b"a", b"A", how=EXCLUSIVE, atime=77, mtime=88, size=0, uid=10, gid=20),
        op("setattr", 1.1, b"A", set_mode=0o644, atime=1, mtime=1, size=0),
    )
    assert (file["mode"], file["birth_seen"], file["uid"], file["gid"]) == (None, True, 10, 20)
    assert (file["atime"], file["mtime"]) == (1, 1)


def test_the_verifier_that_a_server_keeps_in_the_times_is_not_taken_for_a_time():
    file = the_file(create(1, b"a", b"A", how=EXCLUSIVE, atime=77, mtime=88))
    assert (file["atime"], file["mtime"]) == (None, None)


def test_the_second_exclusive_create_of_a_name_is_a_retransmission():
    """RFC 1813 section 3.3.8: with another verifier it would have failed."""
    file = the_file(create(1, b"a", b"A", how=EXCLUSIVE), create(2, b"a", b"A", how=EXCLUSIVE))
    assert file["born"] == 1.001


def test_a_birth_row_says_who_made_the_file_and_how():
    files, names = build(
        op("mkdir", 1, b"dir", name=b"sub", new_fh=b"S", set_mode=0o40755),
        create(2, b"a", b"A", set_mode=0o100640, uid=7, gid=8, client="pc", owner=7, group=100),
        op("create", 3, b"S", name=b"c", new_fh=b"C"),
        op("mknod", 4, b"dir", name=b"p", new_fh=b"P", set_ftype=FIFO),
        op("symlink", 5, b"dir", name=b"s", new_fh=b"L", size=4),
    )
    by_fh = {f["fh"]: f for f in files}
    a = by_fh[b"A"]
    assert (a["mode"], a["uid"], a["gid"], a["client"]) == (0o640, 7, 8, "pc")
    assert (a["owner"], a["group"], a["kind"], a["how_born"]) == (7, 100, "file", "create")
    assert (a["name"], a["dir_fh"], a["dir_name"]) == (b"a", b"dir", None)
    assert (by_fh[b"C"]["dir_fh"], by_fh[b"C"]["dir_name"]) == (b"S", b"sub")
    assert (a["dir_named"], by_fh[b"C"]["dir_named"]) == (None, by_fh[b"S"]["born"])
    kinds = {fh: (f["kind"], f["how_born"]) for fh, f in by_fh.items()}
    assert kinds[b"S"] == ("directory", "mkdir")
    assert kinds[b"P"] == ("fifo", "mknod")
    assert kinds[b"L"] == ("symlink", "symlink")
    assert by_fh[b"S"]["mode"] == 0o755
    assert next(n for n in names if n["name"] == b"a")["mode"] == 0o640


def test_a_create_of_a_name_that_exists_opens_the_file():
    """Create over an existing name is the NFS form of truncation (RFC 1813 section 3.3.8)."""
    file = the_file(
        create(1, b"a", b"A", how=UNCHECKED),
        op("write", 2, b"A", offset=0, count=100),
        create(3, b"a", b"A", how=UNCHECKED, set_size=0),
        create(4, b"a", b"A"),  # of version 2, which has no modes
    )
    assert (file["born"], file["operations"]) == (1.001, 4)
    assert (file["max_size"], file["last_size"]) == (100, 0)


def test_a_create_that_gives_a_handle_seen_before_opens_the_file():
    file = the_file(op("getattr", 1, b"A"), create(2, b"a", b"A", how=UNCHECKED))
    assert (file["birth_seen"], file["name"], file["first_seen"]) == (False, b"a", 1.001)


def test_a_create_in_place_of_a_known_name_shows_that_its_end_was_missed():
    files, names = build(
        create(1, b"a", b"A"), lookup(2, b"a", b"A"), create(5, b"a", b"B", how=GUARDED)
    )
    assert {f["fh"]: f["birth_seen"] for f in files} == {b"A": True, b"B": True}
    lost = next(n for n in names if n["fh"] == b"A")
    assert (lost["death_seen"], lost["observed_until"]) == (False, 2.001)
    old = next(f for f in files if f["fh"] == b"A")
    assert (old["death_seen"], old["observed_until"]) == (False, 2.001)


FRESH: Row = {"size": 0, "nlink": 1, "atime": 100, "mtime": 100, "ctime": 100}


@pytest.mark.parametrize(
    ("shown", "born"),
    [
        ({}, True),
        (FRESH, True),
        (FRESH | {"dir_pre_mtime": 50, "dir_mtime": 100}, True),
        (FRESH | {"dir_pre_mtime": 99, "dir_mtime": 99}, True),  # in one second
        (FRESH | {"size": 5}, False),
        (FRESH | {"size": 5, "set_size": 5}, True),
        (FRESH | {"nlink": 2}, False),
        (FRESH | {"atime": 90}, False),
        (FRESH | {"mtime": 90}, False),
        (FRESH | {"mtime": 90, "set_mtime_how": 2}, True),
        (FRESH | {"atime": 90, "set_atime_how": 2}, True),
        (FRESH | {"dir_pre_mtime": 50, "dir_mtime": 50}, False),
    ],
)
def test_an_unchecked_create_is_a_birth_unless_its_reply_shows_an_older_file(shown, born):
    """RFC 1813 section 3.3.8: UNCHECKED succeeds without checking for existence."""
    assert the_file(create(100, b"a", b"A", how=UNCHECKED, **shown))["birth_seen"] is born


def test_a_guarded_create_is_a_birth_whatever_its_reply_shows():
    """RFC 1813 section 3.3.8: GUARDED fails if the name exists."""
    assert the_file(create(100, b"a", b"A", how=GUARDED, atime=1, ctime=100))["birth_seen"]


def test_the_lookup_gives_the_handle_that_a_create_did_not():
    """RFC 1813 section 3.3.8: a server need not return the new handle."""
    file = the_file(
        create(1, b"a", None, set_mode=0o600, uid=5),
        lookup(2, b"a", b"A", size=0),
        remove(3, b"a"),
    )
    assert (file["fh"], file["born"], file["first_seen"]) == (b"A", 1.001, 1.001)
    assert (file["mode"], file["uid"], file["died"]) == (0o600, 5, 3.001)
    assert file["operations"] == 3


def test_a_create_without_a_handle_of_a_file_known_since_before_is_no_birth():
    files, names = build(
        op("getattr", 1, b"A"), create(2, b"a", None, how=UNCHECKED), lookup(3, b"a", b"A")
    )
    assert [(f["birth_seen"], f["first_seen"]) for f in files] == [(False, 1.001)]
    assert [(n["birth_seen"], n["fh"]) for n in names] == [(False, b"A")]


def test_a_file_without_a_handle_has_a_name_but_no_row():
    files, names = build(create(1, b"a", None), remove(2, b"a"))
    assert files == []
    assert [(n["fh"], n["born"], n["died"]) for n in names] == [(None, 1.001, 2.001)]
    assert (names[0]["file_writes"], names[0]["file_max_size"]) == (None, None)


def test_a_lookup_that_overtakes_the_reply_to_the_create_does_not_hide_the_birth():
    for fh in (b"A", None):
        file = the_file(
            lookup(1.1, b"a", b"A", client="other", size=9),
            create(1, b"a", fh, reply_time=1.2),
        )
        assert (file["birth_seen"], file["born"], file["last_size"]) == (True, 1.2, 9)


def test_readdirplus_discovers_names_and_files():
    files, names = build(
        op(
            "readdirplus",
            1,
            b"dir",
            entries=[
                {"name": b".", "fh": b"dir", "ftype": DIRECTORY},
                {"name": b"..", "fh": b"root", "ftype": DIRECTORY},
                {"name": b"a", "fh": b"A", "ftype": FILE, "size": 5, "owner": 3},
                {"name": b"b"},
            ],
        ),
        remove(2, b"b"),
        remove(3, b"a"),
    )
    by_fh = {f["fh"]: f for f in files}
    assert set(by_fh) == {b"root", b"A"}
    a = by_fh[b"A"]
    assert (a["name"], a["birth_seen"], a["first_seen"], a["kind"]) == (b"a", False, 1.001, "file")
    assert (a["last_size"], a["owner"], a["mode"]) == (5, 3, None)
    assert {(n["name"], n["first_seen"]) for n in names} == {(b"a", 1.001), (b"b", 2.001)}


def test_a_file_with_an_unknown_number_of_links_is_not_taken_for_dead():
    file = the_file(
        lookup(1, b"a", b"A"), remove(2, b"a"), op("getattr", 9, b"dir", ftype=DIRECTORY)
    )
    assert (file["death_seen"], file["last_seen"], file["observed_until"]) == (False, 2.001, 2.001)


def test_a_file_with_one_link_dies_with_its_name_even_if_its_birth_was_not_seen():
    file = the_file(lookup(1, b"a", b"A", nlink=1), remove(2, b"a"))
    assert (file["birth_seen"], file["death_seen"], file["died"]) == (False, True, 2.001)


def test_a_directory_dies_by_rmdir_whatever_its_link_count():
    file = the_file(
        op("mkdir", 1, b"dir", name=b"sub", new_fh=b"S", ftype=DIRECTORY, nlink=2),
        op("rmdir", 2, b"dir", name=b"sub"),
    )
    assert (file["died"], file["how_died"]) == (2.001, "rmdir")


def test_names_left_in_a_directory_that_is_gone_are_observed_until_last_seen():
    files, names = build(
        op("mkdir", 1, b"dir", name=b"sub", new_fh=b"S"),
        op("create", 2, b"S", name=b"a", new_fh=b"A"),
        op("rmdir", 5, b"dir", name=b"sub"),
        op("getattr", 9, b"dir"),
    )
    left = next(n for n in names if n["name"] == b"a")
    assert (left["death_seen"], left["observed_until"]) == (False, 2.001)
    assert next(f for f in files if f["fh"] == b"A")["observed_until"] == 2.001


def test_use_is_counted_and_sizes_are_kept():
    file = the_file(
        create(1, b"a", b"A"),
        op("write", 2, b"A", offset=0, count=8192, reply_count=4096),
        op("write", 3, b"A", offset=4096, count=100, size=4196, mtime=3),
        op("read", 4, b"A", offset=0, count=8192, reply_count=4196, atime=4),
        op("setattr", 5, b"A", set_size=10),
        op("access", 6, b"A"),
        op("commit", 7, b"A"),
    )
    assert (file["writes"], file["bytes_written"]) == (2, 4196)
    assert (file["reads"], file["bytes_read"]) == (1, 4196)
    assert (file["max_size"], file["last_size"]) == (4196, 10)
    assert (file["atime"], file["mtime"]) == (4, 3)
    assert (file["operations"], file["last_seen"]) == (7, 7.001)


def test_a_write_bounds_the_largest_size_from_below_but_does_not_show_the_last():
    file = the_file(op("write", 1, b"A", offset=1000, count=24))
    assert (file["max_size"], file["last_size"]) == (1024, None)


def early(file: Row) -> tuple[Any, ...]:
    return tuple(file[f"early_{what}"] for what in ("size", "reads", "writes", "atime", "mtime"))


def test_early_values_are_those_that_were_shown_until_five_seconds_after_the_birth():
    operations = [
        create(1, b"a", b"A", atime=1, mtime=1),
        op("write", 2, b"A", offset=0, count=100, reply_count=100, mtime=2),
        op("read", 3, b"A", offset=0, count=100, reply_count=100, atime=3),
        op("setattr", 4, b"A", set_size=7),
        op("write", 6, b"A", offset=100, count=100, reply_count=100, size=300, mtime=6),
        op("write", 6.001, b"A", offset=300, count=10, reply_count=10, mtime=7),
        op("read", 8, b"A", offset=0, count=100, reply_count=100, atime=8),
        op("setattr", 9, b"A", set_size=900),
    ]
    file = the_file(*operations)
    assert early(file) == (300, 1, 2, 3, 6)
    assert (file["max_size"], file["reads"], file["writes"]) == (900, 2, 3)
    cut = [row for row in operations if row["time"] + 0.001 <= 6.001]
    assert early(the_file(*cut)) == early(file)


def test_early_values_of_a_file_that_dies_young_are_its_last():
    file = the_file(
        create(1, b"a", b"A"),
        op("write", 2, b"A", offset=0, count=9, reply_count=9),
        remove(3, b"a", dir_nlink=2),
    )
    assert early(file) == (9, 0, 1, None, None)


def test_early_values_are_null_where_the_birth_was_not_seen():
    file = the_file(op("write", 2, b"A", offset=0, count=9, reply_count=9, atime=1))
    assert early(file) == (None, None, None, None, None)


@pytest.mark.parametrize(("found", "expected"), [(5, (50, 0, 1)), (6.1, (0, 0, 0))])
def test_operations_by_a_handle_are_early_only_if_its_file_is_known_early(found, expected):
    file = the_file(
        create(1, b"a", None),
        op("write", 2, b"A", offset=0, count=50, reply_count=50),
        lookup(found, b"a", b"A"),
        op("write", found + 2, b"A", offset=50, count=50, reply_count=50),
    )
    assert early(file)[:3] == expected
    assert (file["born"], file["writes"], file["max_size"]) == (1.001, 2, 100)


def test_early_values_are_the_same_for_lives_that_waited_on_disk():
    operations = batch(
        *(create(i, b"%d" % i, b"F%d" % i, atime=i) for i in range(1, 9)),
        *(op("write", 10 + i, b"F%d" % i, offset=0, count=9, reply_count=9) for i in range(1, 9)),
    )
    few, many = (lives.tables([operations], max_live=most)[0] for most in (2, 1000))
    assert few.sort_by("fh").equals(many.sort_by("fh"))
    assert set(many["early_writes"].to_pylist()) == {0, None}


def test_a_name_keeps_the_writes_and_sizes_until_its_end():
    _, names = build(
        create(1, b"a", b"A"),
        op("write", 2, b"A", offset=0, count=10),
        rename(3, b"a", b"b"),
        op("write", 4, b"A", offset=10, count=10),
    )
    assert {n["name"]: (n["file_writes"], n["file_max_size"]) for n in names} == {
        b"a": (1, 10),
        b"b": (2, 20),
    }


def test_operations_that_failed_or_got_no_reply_change_nothing():
    rows = [create(1, b"a", b"A"), op("write", 2, b"A", offset=0, count=5)]
    files, names = build(*rows, op("null", 9, b"dir"))
    noise: list[Row] = [
        remove(3, b"a", status=None),
        remove(4, b"a", status=ACCES),
        op("write", 5, b"A", offset=0, count=500, status=None),
        op("read", 5, b"A", reply_count=500, status=5),
        rename(6, b"a", b"b", status=ACCES),
        create(7, b"c", b"C", status=None),
        op("getattr", 8, b"A", status=NOENT),
        op("null", 9, b"dir"),
    ]
    # but an unanswered call may have been executed
    expected = [{**row, "loss_nearby": True} for row in files + names]
    files, names = build(*rows, *noise)
    assert files + names == expected


def test_a_lost_reply_to_a_removal_leaves_the_end_unseen_until_a_lookup_fails():
    files, names = build(
        create(1, b"a", b"A"),
        lookup(2, b"a", b"A"),
        remove(3, b"a", status=None),
        lookup(4, b"a", None, status=NOENT),
        op("getattr", 9, b"dir"),
    )
    (file,), (name,) = files, names
    assert (name["death_seen"], name["died"], name["observed_until"]) == (False, None, 2.001)
    assert (file["death_seen"], file["died"], file["observed_until"]) == (False, None, 2.001)


def test_a_lookup_sent_before_the_create_does_not_end_the_name():
    _, names = build(
        create(1, b"a", b"A", reply_time=1.5),
        lookup(1.2, b"a", None, status=NOENT, reply_time=1.6),
        op("getattr", 9, b"dir"),
    )
    assert [n["observed_until"] for n in names] == [9.001]


def test_replies_overtaken_by_that_of_the_removal_do_not_revive_the_file():
    """Thesis 3.5.5: calls and replies are reordered."""
    files, names = build(
        create(1, b"a", b"A"),
        remove(3, b"a"),
        op("read", 2.9, b"A", reply_time=3.2),
        lookup(2.9, b"a", b"A", reply_time=3.3),
    )
    assert [f["died"] for f in files] == [3.001]
    assert [n["died"] for n in names] == [3.001]


def test_a_stale_handle_shows_that_the_file_is_gone():
    """NFS3ERR_STALE: the file no longer exists (RFC 1813 section 2.6)."""
    files, names = build(
        create(1, b"a", b"A"),
        op("read", 2, b"A"),
        op("getattr", 5, b"A", status=STALE),
        op("getattr", 9, b"dir"),
    )
    assert [(f["death_seen"], f["observed_until"]) for f in files] == [(False, 2.001)]
    assert [(n["death_seen"], n["observed_until"]) for n in names] == [(False, 1.001)]


def test_a_birth_with_the_handle_of_a_living_file_shows_that_its_death_was_missed():
    files, names = build(
        create(1, b"a", b"A"),
        op("read", 2, b"A"),
        create(5, b"b", b"A", how=GUARDED),
        remove(6, b"b"),
    )
    assert [(f["born"], f["death_seen"], f["observed_until"]) for f in files] == [
        (1.001, False, 2.001),
        (5.001, True, 6.001),
    ]
    assert [(n["name"], n["death_seen"]) for n in names] == [(b"a", False), (b"b", True)]


def test_a_handle_whose_type_changes_is_another_file():
    files, _ = build(op("getattr", 1, b"A", ftype=FILE), op("getattr", 5, b"A", ftype=DIRECTORY))
    assert [(f["kind"], f["observed_until"]) for f in files] == [
        ("file", 1.001),
        ("directory", 5.001),
    ]


def test_a_file_with_one_link_that_is_found_by_another_name_was_renamed_unseen():
    files, names = build(lookup(1, b"a", b"A", nlink=1), lookup(5, b"b", b"A", nlink=1))
    assert len(files) == 1
    assert {n["name"]: (n["death_seen"], n["observed_until"]) for n in names} == {
        b"a": (False, 1.001),
        b"b": (False, 5.001),
    }


def test_handles_and_names_are_those_of_their_server_alone():
    files, names = lives.tables(
        [
            batch(
                create(1, b"a", b"A", server="one"),
                create(2, b"a", b"A", server="two"),
                remove(3, b"a", server="two"),
                op("getattr", 4, b"dir", server="one"),
                op("getattr", 8, b"dir", server="two"),
            )
        ]
    )
    found = {
        (f["server"], f["fh"]): (f["death_seen"], f["observed_until"])
        for f in map(seconds, files.to_pylist())
    }
    assert found == {
        ("one", b"A"): (False, 4.001),
        ("one", b"dir"): (False, 4.001),
        ("two", b"A"): (True, 3.001),
        ("two", b"dir"): (False, 8.001),
    }
    assert {n["server"] for n in names.to_pylist()} == {"one", "two"}


def test_a_file_that_outlasts_the_trace_is_observed_until_its_end():
    file = the_file(
        create(1, b"a", b"A"),
        remove(2, b"zzz", status=None),
        op("getattr", 7, b"dir", status=None),
    )
    assert (file["death_seen"], file["died"], file["how_died"]) == (False, None, None)
    assert (file["last_seen"], file["observed_until"]) == (1.001, 7)


def test_an_unknown_name_that_is_removed_was_not_seen_to_be_born():
    files, names = build(remove(1, b"a", uid=4))
    assert files == []
    (name,) = names
    assert (name["birth_seen"], name["born"], name["how_born"]) == (False, None, None)
    assert (name["first_seen"], name["died"], name["how_died"]) == (1.001, 1.001, "remove")
    assert (name["uid"], name["client"], name["dir_fh"]) == (None, None, b"dir")


def test_lives_come_out_as_they_end_and_the_rest_in_the_end():
    builder = LivesBuilder()
    builder.update(batch(create(1, b"a", b"A"), create(1, b"b", b"B")))
    assert builder.take_files().num_rows == 0
    builder.update(batch(remove(2, b"a")))
    assert builder.take_files().num_rows == 0  # losses near it may still become known
    builder.update(batch(remove(65, b"z", status=NOENT)))
    assert builder.take_files()["fh"].to_pylist() == [b"A"]
    assert builder.take_names()["name"].to_pylist() == [b"a"]
    assert builder.take_files().num_rows == 0
    builder.finish()
    assert sorted(builder.take_files()["fh"].to_pylist()) == [b"B", b"dir"]
    assert builder.take_files().num_rows == 0
    assert builder.take_names()["name"].to_pylist() == [b"b"]


def test_the_result_does_not_depend_on_how_operations_are_batched():
    rows = [
        create(1, b"a", b"A"),
        link(2, b"A", b"b"),
        rename(3, b"a", b"c"),
        remove(4, b"b"),
        remove(5, b"c"),
        create(6, b"d", b"D"),
    ]
    whole = lives.tables([batch(*rows)])
    assert lives.tables([batch(row) for row in rows]) == whole
    assert lives.tables([batch(*rows).slice(0, 2), batch(*rows).slice(2)]) == whole


NAMING = ("lookup", "create", "remove", "rename", "link", "readdirplus")
OTHERS = ("getattr", "setattr", "read", "write", "mkdir", "symlink", "mknod", "rmdir", "null")


def anything(seed: int, count: int) -> list[Row]:
    """Operations of every kind, on few files and names, in random order."""
    chance = random.Random(seed)
    handles = [b"dir", *(b"F%d" % i for i in range(12))]
    names = [b"n%d" % i for i in range(8)]
    rows = []
    for i in range(count):
        maybe = [None, *handles]
        entry = {"name": chance.choice(names), "fh": chance.choice(maybe)}
        row = op(chance.choice(NAMING * 2 + OTHERS), i / 100, chance.choice(handles[:6]))
        row |= {"name": chance.choice(names), "name2": chance.choice(names)}
        row |= {"fh2": chance.choice(handles[:6]), "new_fh": chance.choice(maybe)}
        row |= {"reply_time": i / 100 + chance.choice([0.001, 0.05])}
        row |= {"server": chance.choice(["one", "two"]), "how": chance.choice([None, 0, 1, 2])}
        row |= {"status": chance.choice([0] * 12 + [None, NOENT, STALE, ACCES])}
        row |= {"nlink": chance.choice([None, 1, 2]), "size": chance.choice([None, 0, 9])}
        row |= {"ftype": chance.choice([None, None, FILE, DIRECTORY]), "entries": [entry]}
        row |= {"offset": chance.randrange(100), "count": chance.randrange(100)}
        rows.append(row)
    return sorted(rows, key=lambda row: row["reply_time"])


def in_order(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize("seed", range(8))
def test_lives_that_wait_on_disk_come_out_as_if_they_had_not(seed):
    batches = [batch(*anything(seed, 400))]
    files, names = lives.tables(batches)
    assert files.num_rows > 50
    assert names.num_rows > 50
    for max_live in (0, 5, 20):
        spilled = lives.tables(batches, max_live)
        assert in_order(spilled[0]) == in_order(files)
        assert in_order(spilled[1]) == in_order(names)


@pytest.mark.parametrize("seed", range(8))
def test_whatever_happens_rows_keep_to_their_meaning(seed):
    """Every column is as data.schema documents it, on operations that make no sense together."""
    files, names = lives.tables([batch(*anything(seed + 100, 2000))])
    for row in map(seconds, files.to_pylist() + names.to_pylist()):
        assert row["birth_seen"] == (row["born"] is not None) == (row["how_born"] is not None)
        assert row["death_seen"] == (row["died"] is not None) == (row["how_died"] is not None)
        assert row["first_seen"] <= row["observed_until"]
        assert row["died"] in (None, row["observed_until"])
    for row in map(seconds, files.to_pylist()):
        assert row["first_seen"] <= row["last_seen"] <= row["observed_until"]
        assert row["last_size"] is None or row["last_size"] <= row["max_size"]
        assert row["reads"] + row["writes"] <= row["operations"]


def test_names_are_bytes_of_any_content():
    file = the_file(create(1, b"\xff\x00/\n", b"A"))
    assert file["name"] == b"\xff\x00/\n"


def test_a_missing_column_is_named():
    good = batch(create(1, b"a", b"A"))
    with pytest.raises(ValueError, match='column "dir_pre_mtime" is missing'):
        LivesBuilder().update(good.drop_columns(["dir_pre_mtime"]))


def test_a_column_of_another_type_is_named_with_what_was_expected():
    good = batch(create(1, b"a", b"A"))
    index = good.schema.get_field_index("offset")
    bad = good.set_column(index, "offset", pa.array([1], pa.int32()))
    with pytest.raises(ValueError, match=r'"offset" is Int32, expected UInt64'):
        LivesBuilder().update(bad)


def test_a_null_time_is_refused():
    good = batch(create(1, b"a", b"A"))
    with pytest.raises(ValueError, match='column "time" has nulls'):
        LivesBuilder().update(good.set_column(0, "time", pa.array([None], TIME)))


def test_no_operations_come_after_the_end():
    builder = LivesBuilder()
    builder.finish()
    with pytest.raises(ValueError, match="after the end"):
        builder.update(batch(create(1, b"a", b"A")))
