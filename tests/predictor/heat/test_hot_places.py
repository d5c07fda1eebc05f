from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from birthmark.predictor.heat.hot_places import HOT_BLOCKS, directories_in, files_in

Life = Callable[..., dict[str, Any]]
Table = Callable[..., pa.Table]
HOUR = 3600.0


def only(table: pa.Table) -> dict[str, Any]:
    (row,) = table.to_pylist()
    return row


def test_a_directory_is_worth_the_hot_files_born_in_it(life: Life, table: Table) -> None:
    directory = life(b"home", HOUR, born=False, kind="directory", owner=7) | {"fh": b"d"}
    locks = [life(b"lock%d" % n, 1, alive=False) for n in range(3)]
    page = life(b"page", HOUR, max_size=10, writes=1, bytes_written=10)
    found = only(directories_in(table(directory, *locks, page)))
    assert found == {"uid": 7, "name": b"home", "things": 1, "worth": 3, "size": 1, "room": 1}


def test_an_old_log_is_worth_all_its_writes_and_a_new_one_all_but_the_first(
    life: Life, table: Table
) -> None:
    written = {"max_size": 8000, "writes": 50, "bytes_written": 50, "uid": 1, "owner": 2}
    old = only(files_in(table(life(b"log", HOUR, born=False, **written | {"uid": None}))))
    assert (old["uid"], old["worth"], old["size"], old["room"]) == (2, 50, 2, 2)
    new = only(files_in(table(life(b"log", HOUR, **written))))
    assert (new["uid"], new["worth"]) == (1, 48)


def test_a_block_is_written_to_the_disk_once_in_30_seconds_at_most(
    life: Life, table: Table
) -> None:
    written = {"max_size": 100, "writes": 1000, "bytes_written": 1000}
    watched = only(files_in(table(life(b"log", 600, born=False, **written))))
    assert watched["worth"] == pytest.approx(20)


def test_a_large_file_has_no_more_room_than_the_allocator_gives_it(
    life: Life, table: Table
) -> None:
    large = life(b"db", HOUR, born=False, max_size=4096 * 5000, writes=10, bytes_written=10)
    found = only(files_in(table(large)))
    assert (found["size"], found["room"]) == (5000, HOT_BLOCKS)


def test_room_is_taken_for_as_long_as_a_file_lives(life: Life, table: Table) -> None:
    whole = life(b"a", HOUR, max_size=4096, writes=1, bytes_written=1)
    half = life(b"b", HOUR / 2, alive=False, max_size=4096, writes=1, bytes_written=1)
    rooms = {row["name"]: row["room"] for row in files_in(table(whole, half)).to_pylist()}
    assert rooms == {b"a": pytest.approx(1), b"b": pytest.approx(0.5)}


def test_no_files_are_no_things(table: Table) -> None:
    assert len(files_in(table())) == len(directories_in(table())) == 0
