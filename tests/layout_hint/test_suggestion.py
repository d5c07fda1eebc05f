"""The region that is suggested is free: it has the room that hot files can use as reported.

Tests also layout_hint/commands/region.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from birthmark.layout_hint.suggestion import suggest
from birthmark.layout_hint.superblock import UfsError
from tests import needs
from tests.layout_hint.file_systems import (
    MB,
    SMALL,
    SUJ_MAX,
    THESIS,
    TODAY,
    Made,
    add_journal,
    change,
    image,
)


def block_behind(made: Made, fragment: int) -> int:
    """Return the byte of the first block that does not begin before a fragment."""
    return -(-fragment // made.frag) * made.bsize


@pytest.mark.parametrize("order", ["<", ">"])
def test_the_thesis_partition_gets_all_inodes_of_its_group_and_free_data_behind_them(
    tmp_path: Path, order: str
) -> None:
    found = suggest(image(tmp_path / "image", replace(THESIS, order=order)), 4 * MB)
    assert (found.format, found.groups, found.block_bytes) == ("UFS1", 231, 16384)
    assert (found.group, found.region_start) == (0, block_behind(THESIS, 1426 + 10))
    assert (found.region_length, found.bytes_free, found.bytes_usable) == (4 * MB,) * 3
    assert (found.region_inodes, found.inodes, found.inodes_free) == (22400, 22397, 22300)


def test_a_default_ufs2_gets_as_many_bytes_of_its_first_inodes_as_of_data(tmp_path: Path) -> None:
    found = suggest(image(tmp_path / "image", TODAY), 4 * MB)
    assert (found.format, found.groups, found.group_bytes) == ("UFS2", 66, 160056 * 4096)
    assert found.region_start == block_behind(TODAY, 5049 + 10)
    assert (found.region_length, found.bytes_usable) == (4 * MB, 4 * MB)
    assert (found.region_inodes, found.inodes, found.inodes_free) == (16384, 16381, 16284)


@pytest.mark.parametrize("size", [4 * MB, 16 * MB])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("most", [None, SUJ_MAX], ids=["today", "up to FreeBSD 14"])
@pytest.mark.parametrize("made", [THESIS, SMALL, TODAY], ids=["UFS1", "small", "UFS2"])
def test_with_a_journal_the_region_is_behind_it_and_free(
    tmp_path: Path, made: Made, most: int | None, order: str, size: int
) -> None:
    path = image(tmp_path / "image", made := replace(made, order=order), 2)
    end = add_journal(path, made, most)
    found = suggest(path, size)
    assert found.journal
    assert found.bytes_usable == size
    if most or made is SMALL:
        assert (found.group, found.region_start) == (0, end * made.fsize)
    assert found.region_start >= end * made.fsize


def test_a_journal_that_fills_the_first_group_leaves_the_region_to_the_second(
    tmp_path: Path,
) -> None:
    """So it is from 78 GB on, for which the journal has as many bytes as a group (tunefs.c)."""
    made = replace(TODAY, ncg=130)
    path = image(tmp_path / "image", made, 3)
    end = add_journal(path, made)
    assert end // made.fpg == 1
    found = suggest(path, 4 * MB)
    assert (found.group, found.region_start) == (1, end * made.fsize)
    assert (found.bytes_usable, found.inodes_free) == (4 * MB, 16384)
    with pytest.raises(UfsError, match="4 MB of data in group 0 of which half is free"):
        suggest(path, 4 * MB, group=0)


def fill(path: Path, made: Made, group: int, but: range | None = None) -> None:
    """Take all fragments of a group, but for a range."""
    left = but or range(0)
    change(path, made, group, used=[at for at in range(made.fpg) if at not in left])


def test_of_free_space_in_pieces_the_region_is_where_most_of_it_is(tmp_path: Path) -> None:
    path = image(tmp_path / "image", SMALL, 3)
    for group, free_of_ten in enumerate((4, 8, 6)):
        used = [b for b in range(SMALL.dblkno // 8, SMALL.fpg // 8) if b % 10 >= free_of_ten]
        change(path, SMALL, group, used=[b * 8 + i for b in used for i in range(8)])
    found = suggest(path, 4 * MB)
    assert found.group == 1
    assert 0.8 <= found.bytes_usable / (4 * MB) < 0.82


def test_fragments_count_as_free_and_blocks_as_usable_if_all_of_them_are_free(
    tmp_path: Path,
) -> None:
    path = image(tmp_path / "image", SMALL, 3)
    for group in range(3):  # every third block lacks a fragment
        change(path, SMALL, group, used=range(SMALL.dblkno, SMALL.fpg, 24))
    found = suggest(path, 3 * MB)
    assert (found.bytes_usable, found.bytes_free) == (2 * MB, 3 * MB - 32 * 4096)


def test_in_a_file_system_that_was_grown_the_region_may_be_in_a_later_group(tmp_path: Path) -> None:
    path = image(tmp_path / "image", SMALL, 3)
    fill(path, SMALL, 0)
    fill(path, SMALL, 1, but=range(80_000, 80_000 + 512))
    found = suggest(path, 4 * MB)
    assert (found.group, found.region_start) == (2, (2 * SMALL.fpg + SMALL.dblkno) * 4096)
    assert (found.inodes, found.inodes_free) == (16384, 16384)


def test_the_region_ends_where_a_last_group_that_is_short_does(tmp_path: Path) -> None:
    path = image(tmp_path / "image", SMALL, 3)
    for group in range(2):
        fill(path, SMALL, group)
    short = SMALL.dblkno + 1024 + 3
    with path.open("r+b") as file:  # fs_size
        os.pwrite(file.fileno(), (2 * SMALL.fpg + short).to_bytes(8, "little"), 65536 + 1080)
    assert suggest(path, 4 * MB).region_start == (2 * SMALL.fpg + SMALL.dblkno) * 4096
    with pytest.raises(UfsError, match="or use --region 4096K: that is free in a row in group"):
        suggest(path, 9 * MB)


def test_where_first_inodes_are_taken_the_region_has_more_of_them(tmp_path: Path) -> None:
    path = image(tmp_path / "image", SMALL, 3)
    change(path, SMALL, 0, inodes=range(20_000))
    found = suggest(path, 4 * MB)
    assert (found.group, found.region_inodes) == (0, 20_000 + 1024)
    assert found.inodes_free == 1024  # a file with data has a fragment at least
    change(path, SMALL, 0, inodes=range(SMALL.ipg - 500))
    found = suggest(path, 4 * MB)
    assert (found.group, found.region_inodes) == (1, 16384)


def test_where_no_place_has_enough_it_is_refused_with_what_to_do(tmp_path: Path) -> None:
    path = image(tmp_path / "image", SMALL, 3)
    for group in range(3):
        fill(path, SMALL, group, but=range(80_000, 80_000 + 128 * (group + 1)))
    expected = (
        "expected 4 MB of data in any of 3 cylinder groups of which half is free, and free inodes"
        " for it; found none: free some space, or use --region 1536K: that is free in a row in"
        " group 2"
    )
    done = command(str(path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"birthmark: {path}: {expected}\n"
    assert suggest(path, 1536 << 10).bytes_usable == 1536 << 10
    for group in range(3):
        fill(path, SMALL, group)
    with pytest.raises(UfsError, match=r"found none: free some space$"):
        suggest(path, 4 * MB)


def test_a_group_without_inodes_is_no_place(tmp_path: Path) -> None:
    path = image(tmp_path / "image", SMALL, 3)
    for group in range(3):
        change(path, SMALL, group, inodes=range(SMALL.ipg))
    with pytest.raises(UfsError, match="and free inodes for it; found none"):
        suggest(path, 4 * MB)


def test_refuses_more_than_any_group_has_with_its_size(tmp_path: Path) -> None:
    path = image(tmp_path / "image", THESIS)
    most = (91136 - 1432) * 2048
    with pytest.raises(UfsError, match=f"from 16,384 to {most:,} bytes"):
        suggest(path, most + 16384)
    with pytest.raises(UfsError, match="bytes, which group 0 has for data; found 16,383"):
        suggest(path, 16383)
    with pytest.raises(UfsError, match="expected a cylinder group below 231; found 231"):
        suggest(path, MB, 231)
    with pytest.raises(UfsError, match="expected the maps of group 1 at byte"):
        suggest(path, MB, 1)


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "birthmark", "layout", "region", *arguments],
        capture_output=True,
        text=True,
    )


def test_the_command_says_first_what_hot_files_can_use_and_gives_the_helpers_options(
    tmp_path: Path,
) -> None:
    path = image(tmp_path / "image", TODAY)
    add_journal(path, TODAY, SUJ_MAX)
    first, second, *_, last = command(str(path), "--region", "8M").stdout.splitlines()
    assert first == "      usable  8 MB for data, 100% of the region, and 32,667 inodes"
    assert "UFS2 with a soft-updates journal, 66 groups" in second
    found = json.loads(command(str(path), "--json").stdout)
    start = found["region_start"]
    assert last.split()[1:] == (
        f"--region-start {start} --region-length 8388608 --region-inodes 32768".split()
    )
    assert (found["region_inodes"], found["bytes_usable"], found["journal"]) == (
        16384,
        4 * MB,
        True,
    )


@pytest.mark.deep
@pytest.mark.parametrize("journal", [False, True])
@pytest.mark.parametrize(("version", "bsize", "fsize"), [(1, 16384, 2048), (2, 32768, 4096)])
@pytest.mark.parametrize(("byte_order", "order"), [("le", "<"), ("be", ">")])
def test_in_an_image_that_makefs_made_the_region_is_behind_what_is_there(
    tmp_path: Path, version: int, bsize: int, fsize: int, byte_order: str, order: str, journal: bool
) -> None:
    makefs = needs.program("makefs", path=f"{os.environ['PATH']}:/usr/sbin")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "file").write_bytes(bytes(100_000))
    sizes = f"version={version},bsize={bsize},fsize={fsize},density=8192"
    made = [makefs, "-t", "ffs", "-B", byte_order, "-s", "400m", "-o", sizes, "image", "tree"]
    subprocess.run(made, cwd=tmp_path, check=True, capture_output=True)
    path = tmp_path / "image"
    end = add_journal(path, Made.of(path, order)) if journal else 0
    found = suggest(path, 4 * MB)
    assert (found.format, found.journal) == (f"UFS{version}", journal)
    assert found.bytes_usable == 4 * MB
    assert found.region_start >= max(end * fsize, 100_000)
    # the root has an inode that no file can have, and the file and the journal have one each
    assert found.inodes - found.inodes_free == 1 + journal
