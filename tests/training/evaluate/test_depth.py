from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from birthmark.training.evaluate.depth import depths

Make = Callable[..., Any]


@pytest.fixture
def tree(life: Make, files_of: Make) -> pa.Table:
    """Return a files table: root/home/anna, root/tmp, and what was born in them and elsewhere."""

    def directory(fh: bytes, above: bytes | None, **columns: Any) -> dict[str, Any]:
        return life(fh, None, kind="directory", fh=fh, dir_fh=above, **columns)

    return files_of(
        directory(b"root", None),
        directory(b"home", b"root"),
        directory(b"anna", b"home"),
        directory(b"tmp", b"root"),
        directory(b"egg", b"hen"),
        directory(b"hen", b"egg"),
        directory(b"anna", b"root", server="other"),
        life(b"a", 1, dir_fh=b"root"),
        life(b"b", 2, dir_fh=b"tmp"),
        life(b"c", 3, dir_fh=b"anna"),
        life(b"d", 4, dir_fh=b"anna"),
        life(b"elsewhere", 5, dir_fh=b"unseen"),
        life(b"nowhere", 6, dir_fh=None),
        life(b"circle", 7, dir_fh=b"hen"),
        life(b"other server", 8, dir_fh=b"anna", server="other"),
    )


def test_depth_counts_the_directories_up_to_the_root_as_far_as_the_trace_knows_them(
    tree: pa.Table,
) -> None:
    births = tree.filter(tree["birth_seen"])
    assert dict(zip(births["name"].to_pylist(), depths(births, tree).tolist(), strict=True)) == {
        b"a": 0,
        b"b": 1,
        b"c": 2,
        b"d": 2,
        b"elsewhere": -1,
        b"nowhere": -1,
        b"circle": -1,
        b"other server": 1,
    }


def test_names_have_the_depth_of_their_directories_too(
    tree: pa.Table, life: Make, names_of: Make
) -> None:
    names = names_of(life(b"x", 1, dir_fh=b"tmp"), life(b"y", 1, dir_fh=b"anna"))
    assert depths(names, tree).tolist() == [1, 2]
    assert depths(names.slice(0, 0), tree).tolist() == []
