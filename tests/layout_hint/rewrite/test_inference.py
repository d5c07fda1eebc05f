"""Inferred preconditions, rule by rule of thesis section 3.6.4; each trace is really performed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.layout_hint.rewrite.made import (
    BASE,
    EXCLUSIVE,
    EXIST,
    HOME,
    NOENT,
    NOTDIR,
    NOTEMPTY,
    OWNER,
    STALE,
    SYMLINK,
    UNCHECKED,
    create,
    directory,
    file,
    lookup,
    op,
    replayed,
)

SEEN = {"dir_" + name: value for name, value in directory().items()}


def read(time: float, fh: bytes, **more: object) -> dict[str, object]:
    return op("read", time, fh, **{"offset": 0, "count": 4096, "reply_count": 0, **more})


def test_a_file_that_is_read_before_it_is_made_was_there_from_the_start(tmp_path: Path) -> None:
    found = replayed(tmp_path, [read(1, b"f", reply_count=10, **file(10, 0o640))])
    [row] = found.manifest
    assert (row["kind"], row["size"], row["mode"], row["owner"]) == ("file", 10, 0o640, OWNER)
    assert row["invented"]
    assert found.inserted == []
    assert (found.built.unnamed_files, found.built.manifest) == (1, {"file": 1})
    assert (found.root / row["name"].decode()).stat().st_size == 10


def test_the_name_of_a_file_is_used_from_the_start_when_it_is_learned_later(tmp_path: Path) -> None:
    rows = [read(1, b"f", **file()), lookup(2, b"notes", b"f", **file(), **SEEN)]
    found = replayed(tmp_path, rows)
    assert found.inserted == []
    named = {row["name"]: row for row in found.manifest if row["kind"] == "file"}
    assert list(named) == [b"notes"]
    assert not named[b"notes"]["invented"]
    assert found.built.unnamed_files == 0
    assert found.built.unnamed_directories == 1


def test_a_file_that_is_gone_at_its_second_read_was_removed_right_before_it(tmp_path: Path) -> None:
    rows = [
        read(1, b"f", **file()),
        op("getattr", 2, b"other", **file()),
        read(3, b"f", status=STALE),
    ]
    found = replayed(tmp_path, rows)
    assert found.sequence == ["read", "getattr", "+remove", "read"]
    assert found.inserted == [("remove", "vanished")]


def test_a_directory_that_is_stale_goes_with_what_it_holds(tmp_path: Path) -> None:
    rows = [
        lookup(1, b"sub", b"d", **directory()),
        op("lookup", 2, b"d", name=b"x", new_fh=b"f", **file()),
        op("readdir", 3, b"d", status=STALE),
        read(4, b"f", **file()),
    ]
    assert replayed(tmp_path, rows).inserted == [("rename", "vanished")]


def test_a_name_that_appears_without_a_create_was_made_right_before_it(tmp_path: Path) -> None:
    rows = [
        lookup(1, b"new", status=NOENT),
        op("getattr", 2, HOME, **directory()),
        lookup(3, b"new", b"f", **file(5, 0o600)),
    ]
    found = replayed(tmp_path, rows)
    assert found.sequence == ["lookup", "getattr", "+create", "+setattr", "lookup"]
    made = found.operations[2]
    assert (made["name"], made["mode"], made["owner"]) == (b"new", 0o600, OWNER)
    assert found.built.inserted == {"appeared": {"create": 1}, "size": {"setattr": 1}}


def test_a_name_that_vanishes_without_a_remove_was_removed_right_before(tmp_path: Path) -> None:
    rows = [lookup(1, b"old", b"f", **file()), lookup(2, b"old", status=NOENT)]
    found = replayed(tmp_path, rows)
    assert found.sequence == ["lookup", "+remove", "lookup"]


def test_another_file_under_a_name_took_its_place(tmp_path: Path) -> None:
    rows = [lookup(1, b"x", b"f", **file()), lookup(2, b"x", b"g", **file())]
    found = replayed(tmp_path, rows)
    assert found.inserted == [("remove", "vanished"), ("create", "appeared")]


def test_a_file_found_under_another_name_was_renamed(tmp_path: Path) -> None:
    rows = [lookup(1, b"a", b"f", **file()), lookup(2, b"b", b"f", **file())]
    found = replayed(tmp_path, rows)
    assert found.inserted == [("rename", "moved")]
    assert found.operations[1]["name"] == b"a"
    assert found.operations[1]["name2"] == b"b"


def test_a_file_of_two_links_found_under_two_names_has_both_from_the_start(tmp_path: Path) -> None:
    two = file(3, nlink=2)
    rows = [lookup(1, b"a", b"f", **two), lookup(2, b"b", b"f", **two)]
    found = replayed(tmp_path, rows)
    assert found.inserted == []
    files = [row for row in found.manifest if row["kind"] == "file"]
    assert {row["name"] for row in files} == {b"a", b"b"}
    assert len({row["id"] for row in files}) == 1
    assert (found.built.names, found.built.manifest) == (3, {"directory": 1, "file": 1})
    [a], [b] = found.root.glob("*/a"), found.root.glob("*/b")
    assert a.samefile(b)


def test_a_second_link_under_a_name_that_was_free_before_was_made(tmp_path: Path) -> None:
    two = file(3, nlink=2)
    rows = [
        lookup(1, b"b", status=NOENT),
        lookup(2, b"a", b"f", **two),
        lookup(3, b"b", b"f", **two),
    ]
    assert replayed(tmp_path, rows).inserted == [("link", "appeared")]


def test_a_directory_that_was_renamed_unseen_takes_along_what_it_holds(tmp_path: Path) -> None:
    rows = [
        lookup(1, b"old", b"d", **directory()),
        op("lookup", 2, b"d", name=b"x", new_fh=b"f", **file(7)),
        lookup(3, b"new", b"d", **directory()),
        lookup(4, b"old", status=NOENT),
        op("lookup", 5, b"d", name=b"x", new_fh=b"f", **file(7)),
    ]
    found = replayed(tmp_path, rows)
    assert found.inserted == [("rename", "moved")]
    assert [path.parent.name for path in found.root.rglob("x")] == ["new"]


def test_a_directory_is_never_moved_below_itself(tmp_path: Path) -> None:
    rows = [
        lookup(1, b"a", b"A", **directory()),
        op("lookup", 2, b"A", name=b"b", new_fh=b"B", **directory()),
        op("lookup", 3, b"B", name=b"a", new_fh=b"A", **directory()),
        op("lookup", 4, b"B", name=b"home", new_fh=HOME, **directory()),
    ]
    found = replayed(tmp_path, rows)
    assert set(found.inserted) == {("rename", "vanished"), ("rename", "moved")}


def test_a_rename_over_a_file_ends_it(tmp_path: Path) -> None:
    rows = [
        lookup(1, b"target", b"t", **file()),
        op("rename", 2, HOME, name=b"source", fh2=HOME, name2=b"target"),
        lookup(3, b"target", b"s", **file()),
        op("getattr", 4, b"t", status=STALE),
        lookup(5, b"source", status=NOENT),
    ]
    found = replayed(tmp_path, rows)
    assert found.inserted == []  # a lookup says at last which file it was that was renamed
    assert {row["name"] for row in found.manifest} >= {b"source", b"target"}


def test_a_file_known_only_by_its_removal_existed(tmp_path: Path) -> None:
    found = replayed(tmp_path, [op("remove", 1, HOME, name=b"x", **SEEN)])
    assert [row["name"] for row in found.manifest if row["kind"] == "file"] == [b"x"]
    assert found.inserted == []


def test_a_file_that_is_removed_twice_was_made_in_between(tmp_path: Path) -> None:
    rows = [op("remove", time, HOME, name=b"x") for time in (1, 2)]
    assert replayed(tmp_path, rows).sequence == ["remove", "+create", "remove"]


def test_contents_of_an_unknown_directory_are_attached_below_the_root(tmp_path: Path) -> None:
    rows = [lookup(1, b"x", b"f", **file(1), **SEEN), read(2, b"f", reply_count=1, **file(1))]
    found = replayed(tmp_path, rows)
    home, x = found.manifest
    assert (home["parent"], home["invented"], home["kind"]) == (0, True, "directory")
    assert home["mode"] == 0o755
    assert x["path"] == home["name"] + b"/x"
    assert found.left() == {home["name"].decode(), x["path"].decode()}


def test_the_name_of_a_directory_may_be_learned_after_what_is_in_it(tmp_path: Path) -> None:
    rows = [
        op("lookup", 1, b"d", name=b"x", new_fh=b"f", **file()),
        lookup(2, b"sub", b"d", **directory()),
    ]
    found = replayed(tmp_path, rows)
    assert found.inserted == []
    assert found.built.unnamed_directories == 1  # home alone
    assert [row["path"].split(b"/", 1)[-1] for row in found.manifest[1:]] == [b"sub", b"sub/x"]


def test_a_directory_that_was_not_empty_holds_something(tmp_path: Path) -> None:
    rows = [
        op("rmdir", 1, HOME, name=b"d", status=NOTEMPTY),
        lookup(2, b"d", b"D", **directory()),
        op("rmdir", 3, HOME, name=b"d"),
    ]
    found = replayed(tmp_path, rows)
    assert found.sequence == ["rmdir", "lookup", "+remove", "rmdir"]
    assert found.built.manifest == {"directory": 2, "file": 1}


def test_a_directory_known_by_name_and_by_handle_is_one(tmp_path: Path) -> None:
    rows = [
        op("lookup", 1, b"D", name=b"x", new_fh=b"f", **file()),
        op("rmdir", 2, HOME, name=b"d", status=NOTEMPTY),
        lookup(3, b"d", b"D", **directory()),
        op("lookup", 4, b"D", name=b"x", new_fh=b"f", **file()),
    ]
    found = replayed(tmp_path, rows)
    assert found.inserted == []
    assert found.built.unnamed_directories == 1


def test_contents_of_a_removed_directory_were_removed_before(tmp_path: Path) -> None:
    rows = [
        lookup(1, b"d", b"D", **directory()),
        op("lookup", 2, b"D", name=b"x", new_fh=b"f", **file()),
        op("rmdir", 3, HOME, name=b"d"),
    ]
    assert replayed(tmp_path, rows).sequence == ["lookup", "lookup", "+remove", "rmdir"]


@pytest.mark.parametrize("procedure", ["create", "mkdir", "symlink"])
def test_an_object_whose_creation_failed_existed(tmp_path: Path, procedure: str) -> None:
    rows = [op(procedure, 1, HOME, name=b"x", how=1, target=b"t", status=EXIST)]
    found = replayed(tmp_path, rows)
    assert b"x" in {row["name"] for row in found.manifest}
    assert found.inserted == []


def test_a_link_needs_its_file_and_a_free_name(tmp_path: Path) -> None:
    rows = [
        lookup(1, b"x", b"old", **file()),
        op("link", 2, b"f", fh2=HOME, name=b"x", **file(4, nlink=2)),
        op("link", 3, b"f", fh2=HOME, name=b"x", status=EXIST),
    ]
    found = replayed(tmp_path, rows)
    assert found.inserted == [("remove", "vanished")]
    [x] = found.root.glob("*/x")
    assert (x.stat().st_nlink, x.stat().st_size) == (2, 4)


def test_a_lookup_in_a_file_fails_as_no_directory(tmp_path: Path) -> None:
    rows = [op("lookup", 1, b"f", name=b"x", status=NOTDIR)]
    assert replayed(tmp_path, rows).built.manifest == {"file": 1}


def test_a_handle_that_became_something_else_is_another_object(tmp_path: Path) -> None:
    rows = [lookup(1, b"x", b"h", **file()), op("readdir", 2, b"h", **directory())]
    found = replayed(tmp_path, rows)
    assert found.inserted == [("remove", "vanished"), ("mkdir", "appeared")]


def test_a_handle_that_is_made_again_was_removed_before(tmp_path: Path) -> None:
    rows = [create(1, b"a", b"f", **file()), create(2, b"b", b"f", **file())]
    found = replayed(tmp_path, rows)
    assert found.sequence == ["create", "+remove", "create"]
    made = [row["new_id"] for row in found.operations if row["op"] == "create"]
    assert made[0] != made[1]


def test_an_exclusive_create_that_is_sent_again_opens_what_it_made(tmp_path: Path) -> None:
    rows = [create(time, b"a", b"f", how=EXCLUSIVE, **file()) for time in (1, 2)]
    found = replayed(tmp_path, rows)
    assert found.sequence == ["create", "create"]
    assert [row["how"] for row in found.operations] == [1, 0]


def test_an_unchecked_create_of_a_file_that_holds_data_opened_it(tmp_path: Path) -> None:
    found = replayed(tmp_path, [create(1, b"a", b"f", how=UNCHECKED, **file(9))])
    assert [row["size"] for row in found.manifest if row["kind"] == "file"] == [9]


def test_an_unchecked_create_of_what_may_be_new_makes_it(tmp_path: Path) -> None:
    found = replayed(tmp_path, [create(1, b"a", b"f", how=UNCHECKED, **file(0))])
    assert found.built.manifest == {"directory": 1}


def test_a_mode_or_size_that_changed_unseen_is_changed_right_before_it_shows(
    tmp_path: Path,
) -> None:
    rows = [
        op("getattr", 1, b"f", **file(10, 0o644, ctime=1)),
        op("getattr", 2, b"f", **file(10, 0o600, ctime=2)),
        op("getattr", 3, b"f", **file(4, 0o600, ctime=3)),
        op("getattr", 4, b"f", **file(10, 0o644, ctime=1)),  # an old reply, late
    ]
    found = replayed(tmp_path, rows)
    assert found.sequence == ["getattr", "+setattr", "getattr", "+setattr", "getattr", "getattr"]
    assert found.inserted == [("setattr", "attributes"), ("setattr", "size")]
    [path] = found.root.iterdir()
    assert (path.stat().st_mode & 0o777, path.stat().st_size) == (0o600, 4)


def test_a_files_size_before_its_first_write_comes_from_the_reply(tmp_path: Path) -> None:
    written = {"offset": 0, "count": 5, "reply_count": 5}
    rows = [
        op("write", 1, b"f", **written, pre_size=100, **file(100)),
        op("write", 2, b"g", **written, **file(50)),
        op("write", 3, b"h", **written, **file(5)),
    ]
    found = replayed(tmp_path, rows)
    assert [row["size"] for row in found.manifest] == [100, 50, 0]


def test_objects_only_listed_give_names_but_are_not_made(tmp_path: Path) -> None:
    entries = [
        {"name": name, "fileid": 1, "cookie": 1, "fh": fh, **file(size)}
        for name, fh, size in ((b"used", b"u", 3), (b"idle", b"i", 4), (b".", HOME, 0))
    ]
    rows = [
        op("readdirplus", 1, HOME, cookie=0, entries=entries, **directory()),
        op("setattr", 2, b"u", set_mode=0o600),
    ]
    found = replayed(tmp_path, rows)
    files = [row for row in found.manifest if row["kind"] == "file"]
    assert [(row["name"], row["size"]) for row in files] == [(b"used", 3)]
    assert found.built.unnamed_files == 0


def test_a_listing_names_a_handle_that_was_used_before(tmp_path: Path) -> None:
    entry = {"name": b"used", "fileid": 1, "cookie": 1, "fh": b"u", **file(3)}
    rows = [
        op("getattr", 1, b"u", **file(3)),
        op("readdirplus", 2, HOME, entries=[entry], **directory()),
    ]
    assert b"used" in {row["name"] for row in replayed(tmp_path, rows).manifest}


def test_a_symbolic_link_holds_what_was_read_of_it(tmp_path: Path) -> None:
    link = {"ftype": SYMLINK, "mode": 0o777, "size": 11}
    rows = [
        lookup(1, b"a", b"l", **link),
        op("readlink", 2, b"l", target=b"/etc/passwd", **link),
        lookup(3, b"b", b"m", **link),
    ]
    found = replayed(tmp_path, rows)
    targets = {path.name: path.readlink() for path in found.root.rglob("*") if path.is_symlink()}
    assert targets == {"a": Path("/etc/passwd"), "b": Path("x" * 11)}


def test_unnamed_files_are_left_out_and_counted_where_that_is_asked_for(tmp_path: Path) -> None:
    rows = [
        read(1, b"f", **file()),
        lookup(2, b"x", b"g", **file()),
        read(3, b"f", status=STALE),
        op("readdir", 4, b"d", **directory()),
    ]
    found = replayed(tmp_path, rows, unnamed="discard")
    assert found.built.left_out == {"on a file without a name": 2}
    assert found.sequence == ["lookup", "readdir"]
    assert found.built.unnamed_files == 1
    assert found.built.manifest == {"directory": 2, "file": 1}


def test_only_calls_of_the_section_count(tmp_path: Path) -> None:
    rows = [create(1, b"x", b"f", **file()), read(2, b"f", **file()), read(3, b"f", **file())]
    first, last = (BASE + 2) * 1_000_000, (BASE + 3) * 1_000_000
    found = replayed(tmp_path, rows, first=first, last=last)
    assert found.sequence == ["read"]
    assert found.built.period == (first, first)


def test_the_directories_of_two_servers_are_apart(tmp_path: Path) -> None:
    rows = [
        op("lookup", time, b"d", server=server, name=b"x", new_fh=b"f", **file())
        for time, server in ((1, "a"), (2, "b"))
    ]
    found = replayed(tmp_path, rows)
    assert found.built.manifest == {"directory": 2, "file": 2}


def test_version_4_opens_and_removes_are_creates_lookups_and_rmdirs(tmp_path: Path) -> None:
    four = {"version": 4}
    rows = [
        op("putfh", 1, HOME, **four),
        op("open", 1, HOME, name=b"x", new_fh=b"f", how=UNCHECKED, set_mode=0o640, **four),
        op("getattr", 2, b"f", **file(0, 0o640), **four),
        op("close", 3, b"f", **four),
        op("open", 4, HOME, name=b"x", new_fh=b"f", **four),
        op("mkdir", 5, HOME, name=b"d", new_fh=b"D", **directory(), **four),
        op("remove", 6, HOME, name=b"d", **four),
        op("lookup", 7, None, name=b"y", **four),
    ]
    found = replayed(tmp_path, rows)
    assert found.sequence == ["create", "getattr", "lookup", "mkdir", "rmdir"]
    assert found.built.left_out == {
        "nothing that a file system does": 2,
        "handle not in the trace": 1,
    }
    [x] = found.root.glob("*/x")
    assert x.stat().st_mode & 0o777 == 0o640
