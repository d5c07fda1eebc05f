from __future__ import annotations

import datetime
from typing import Any

import pyarrow as pa

from birthmark.features import CREATES, DIRECTORIES, directories_of, from_directories, seen_before
from tests.builders.lives import UNKNOWN, files_of, life

START = datetime.datetime(2003, 2, 25, tzinfo=datetime.UTC)


def row(kind: str, fh: bytes, minute: int = 0, **columns: Any) -> dict[str, Any]:
    time = START + datetime.timedelta(minutes=minute)
    return life(None, None, end=0.0, day=time, **UNKNOWN) | {"kind": kind, "fh": fh} | columns


HOME = row("directory", b"h", name=b"ben", dir_fh=b"r", dir_name=b"home", owner=7)
FILES_OF_BEN = [
    row("file", b"1", 3, dir_fh=b"h", dir_name=b"ben", born=START),
    row("file", b"2", 4, dir_fh=b"h", dir_name=b"ben", born=START),
    row("file", b"3", 5, dir_fh=b"h", dir_name=b"ben", born=START),
]
LOST = row("file", b"4", 6, dir_fh=b"x", born=START)


def test_a_directory_counts_the_births_in_it_whose_heat_is_known():
    files = files_of(*FILES_OF_BEN, HOME, LOST)
    found = directories_of(files, pa.array([True, False, None, None, True]))
    assert found.schema.equals(DIRECTORIES)
    by_handle = {row["fh"]: row for row in found.to_pylist()}
    home = by_handle[b"h"]
    assert (home["births"], home["hot_births"]) == (2, 1)
    assert (home["name"], home["parent_name"], home["parent_fh"]) == (b"ben", b"home", b"r")
    assert home["owner"] == 7
    # nothing was seen of it but that a file was born there
    assert (by_handle[b"x"]["births"], by_handle[b"x"]["name"]) == (1, None)


def test_the_same_directory_of_two_days_is_one_row_as_it_was_first_seen():
    made = row("directory", b"h", 1, name=b"ben", mode=0o755, born=START, birth_seen=True)
    again = row("directory", b"h", 60 * 24, name=b"renamed", owner=7)
    (found,) = directories_of(files_of(again, made), pa.nulls(2, pa.bool_())).to_pylist()
    assert (found["name"], found["mode"], found["owner"]) == (b"ben", 0o755, 7)
    assert (found["births"], found["born"]) == (0, START)


def test_handles_of_two_servers_are_two_directories():
    other = HOME | {"server": "t"}
    assert len(directories_of(files_of(HOME, other), pa.nulls(2, pa.bool_()))) == 2


def test_earlier_counts_replace_the_current_ones():
    now = directories_of(
        files_of(*FILES_OF_BEN, HOME, LOST), pa.array([True, True, True, None, True])
    )
    before = directories_of(files_of(*FILES_OF_BEN, HOME), pa.array([True, None, None, None]))
    counts = {
        row["fh"]: (row["births"], row["hot_births"])
        for row in seen_before(now, before).to_pylist()
    }
    assert counts == {b"h": (1, 1), b"x": (0, 0)}
    assert seen_before(now, before).schema.equals(DIRECTORIES)


def test_a_directory_is_a_create_in_its_parent_by_its_owner():
    directories = directories_of(files_of(HOME), pa.nulls(1, pa.bool_()))
    creates = from_directories(directories)
    assert creates.schema.equals(CREATES)
    (create,) = creates.to_pylist()
    assert (create["name"], create["dir_fh"], create["dir_name"]) == (b"ben", b"r", b"home")
    assert create["uid"] == 7
