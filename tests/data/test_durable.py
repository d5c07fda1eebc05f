"""What is written aside takes its place whole, or not at all."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from data import durable


def test_what_was_written_takes_the_place_of_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with durable.replaced(target) as aside:
        aside.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def half_written(target: Path, error: Exception) -> None:
    with durable.replaced(target) as aside:
        aside.write_text("half")
        raise error


def test_a_full_disk_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    target.write_text("old")
    with pytest.raises(OSError, match="No space left"):
        half_written(target, OSError(errno.ENOSPC, "No space left on device"))
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_directory_is_replaced_as_a_file_is(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with durable.replaced(target) as aside:
        aside.mkdir()
        (aside / "part").write_text("x")
    assert (target / "part").read_text() == "x"
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
