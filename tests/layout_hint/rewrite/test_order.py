"""Overlapping calls are executed in the order that explains their results."""

from __future__ import annotations

from pathlib import Path

from tests.layout_hint.rewrite.made import (
    EXIST,
    HOME,
    NOENT,
    NOTEMPTY,
    Row,
    create,
    directory,
    file,
    lookup,
    op,
    replayed,
)


def order(tmp_path: Path, rows: list[Row]) -> list[str]:
    """The procedures in the order of execution, if none had to be inserted."""
    found = replayed(tmp_path, rows)
    assert found.inserted == []
    return found.sequence


def test_replies_give_the_order_where_nothing_overlaps(tmp_path: Path) -> None:
    rows = [lookup(1, b"x", status=NOENT), create(2, b"x", b"f", **file())]
    assert order(tmp_path, rows) == ["lookup", "create"]


def test_a_name_found_before_the_reply_to_its_create_was_made_before(tmp_path: Path) -> None:
    rows = [
        lookup(0.1, b"x", status=NOENT),
        create(1, b"x", b"f", reply=1.5, **file()),
        lookup(1.1, b"x", b"f", reply=1.2, **file()),
    ]
    assert order(tmp_path, rows) == ["lookup", "create", "lookup"]


def test_a_name_not_found_after_the_reply_to_its_create_was_asked_for_before(
    tmp_path: Path,
) -> None:
    rows = [
        create(1, b"x", b"f", reply=1.2, **file()),
        lookup(1.1, b"x", reply=1.5, status=NOENT),
    ]
    assert order(tmp_path, rows) == ["lookup", "create"]


def test_a_file_read_after_the_reply_to_its_removal_was_read_before(tmp_path: Path) -> None:
    rows = [
        lookup(0.1, b"x", b"f", **file(8)),
        op("remove", 1, HOME, name=b"x", reply=1.2),
        op("read", 1.1, b"f", offset=0, count=8, reply_count=8, reply=1.5, **file(8)),
        lookup(1.15, b"x", b"f", reply=1.6, **file(8)),
    ]
    executed = order(tmp_path, rows)
    assert (executed[0], sorted(executed[1:3]), executed[3]) == (
        "lookup",
        ["lookup", "read"],
        "remove",
    )


def test_a_create_that_found_nothing_followed_the_removal_that_overlaps(tmp_path: Path) -> None:
    rows = [
        create(0.1, b"x", b"f", **file()),
        create(1, b"x", b"g", reply=1.2, **file()),
        op("remove", 0.9, HOME, name=b"x", reply=1.5),
    ]
    assert order(tmp_path, rows) == ["create", "remove", "create"]


def test_a_create_that_found_the_file_preceded_the_removal_that_overlaps(tmp_path: Path) -> None:
    rows = [
        create(0.1, b"x", b"f", **file()),
        op("remove", 1, HOME, name=b"x", reply=1.2),
        create(0.9, b"x", reply=1.5, status=EXIST),
    ]
    assert order(tmp_path, rows) == ["create", "create", "remove"]


def test_a_lookup_of_what_a_rename_brings_follows_it(tmp_path: Path) -> None:
    rows = [
        create(0.1, b"old", b"f", **file()),
        create(0.2, b"new", b"g", **file()),
        op("rename", 1, HOME, name=b"new", fh2=HOME, name2=b"old", reply=1.5),
        lookup(1.1, b"old", b"g", reply=1.2, **file()),
    ]
    assert order(tmp_path, rows) == ["create", "create", "rename", "lookup"]


def test_a_directory_found_full_was_removed_before_it_was_emptied(tmp_path: Path) -> None:
    rows = [
        op("mkdir", 0.1, HOME, name=b"d", new_fh=b"D", **directory()),
        op("create", 0.2, b"D", name=b"x", new_fh=b"f", how=1, **file()),
        op("remove", 1, b"D", name=b"x", reply=1.2),
        op("rmdir", 1.1, HOME, name=b"d", reply=1.5, status=NOTEMPTY),
    ]
    assert order(tmp_path, rows) == ["mkdir", "create", "rmdir", "remove"]


def test_a_size_that_an_overlapping_write_explains_is_not_inserted(tmp_path: Path) -> None:
    data = {"count": 10, "reply_count": 10}
    rows = [
        create(0.1, b"x", b"f", **file(0, ctime=1)),
        op("write", 1, b"f", offset=0, reply=1.2, **data, **file(20, ctime=2)),
        op("write", 1.1, b"f", offset=10, reply=1.5, **data, **file(20, ctime=2)),
    ]
    assert order(tmp_path, rows) == ["create", "write", "write"]
