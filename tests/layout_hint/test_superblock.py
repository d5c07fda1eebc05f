"""The sizes of a file system are those of its superblock, and what is free that of its maps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from birthmark.layout_hint.superblock import Superblock, UfsError, group_maps, superblock
from tests.layout_hint.file_systems import THESIS, TODAY, Made, add_journal, image


def read(path: Path) -> Superblock:
    with path.open("rb", buffering=0) as file:
        return superblock(file.fileno(), path)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("made", "format"), [(THESIS, "UFS1"), (TODAY, "UFS2")])
def test_sizes_and_maps_are_read_in_both_formats_and_orders(
    tmp_path: Path, made: Made, format: str, order: str
) -> None:
    path = image(tmp_path / "image", replace(made, order=order))
    found = read(path)
    assert (found.format, found.ncg, found.bsize) == (format, made.ncg, made.bsize)
    assert found.first_data(0) == made.first
    assert found.first_data(1) == made.dblkno
    assert not found.journal
    with path.open("rb", buffering=0) as file:
        maps = group_maps(file.fileno(), path, found, 0)
    assert np.flatnonzero(maps.inodes)[0] == 100
    assert np.flatnonzero(maps.fragments)[0] == made.first + 10


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("made", [THESIS, TODAY])
def test_a_journal_is_known_by_the_flags(tmp_path: Path, made: Made, order: str) -> None:
    path = image(tmp_path / "image", made := replace(made, order=order), 2)
    add_journal(path, made)
    assert read(path).journal


def test_ignores_old_ufs1_data_in_place_of_the_flags(tmp_path: Path) -> None:
    """Before FreeBSD 5 these bytes were others, and fs_flags was a byte at 211."""
    assert not read(image(tmp_path / "image", THESIS, _1312=0xFFFF)).journal


@pytest.mark.parametrize(
    "damage",
    [{"_48": 5000}, {"_52": 0}, {"_188": 0}, {"_184": 10**9}, {"_44": 10**6}, {"_20": 8}],
)
def test_a_superblock_that_cannot_be_is_refused(tmp_path: Path, damage: dict[str, int]) -> None:
    with pytest.raises(UfsError, match="expected a UFS1 whose groups begin with their tables"):
        read(image(tmp_path / "image", THESIS, **damage))


def test_a_file_that_is_no_file_system_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_text("no file system")
    with pytest.raises(UfsError, match="a superblock at one of bytes 65536, 8192, 0, 262144"):
        read(path)


def test_maps_that_are_not_there_are_refused(tmp_path: Path) -> None:
    path = image(tmp_path / "image", THESIS)
    found = read(path)
    with path.open("rb", buffering=0) as file:
        with pytest.raises(UfsError, match=r"expected the maps of group 1 at byte [0-9,]+$"):
            group_maps(file.fileno(), path, found, 1)
        with pytest.raises(UfsError, match=r"the maps of group 2 at byte .*; it ends before"):
            group_maps(file.fileno(), path, found, 2)
