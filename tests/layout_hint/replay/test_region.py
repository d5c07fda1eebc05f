"""Where a region lies, and what it has room for: the figures of the thesis's file system."""

from __future__ import annotations

from dataclasses import replace

import pytest

from birthmark.layout_hint.replay.region import (
    Geometry,
    Region,
    first_inodes,
    geometry,
    region_start,
)
from tests.layout_hint.file_systems import SUJ_MAX, TODAY, journal_blocks

# newfs of FreeBSD 4.8 for 40 GB: 231 groups of 178 MB with 22,400 inodes; data begin after 1,424
# fragments of 2 KB
THESIS = Geometry(2048, 16384, 91136, 231, 24, 1424, 22400, 128, 1424)
MB = 1 << 20


def thesis(start: int, length: int, inodes: int = 0) -> Region:
    return Region.of("freebsd48", 40 << 30, start, length, inodes)


def test_the_thesis_region_has_all_inodes_of_the_first_group_and_little_room_for_data() -> None:
    # but for the root's inode and the two before it, and a block of summaries
    assert thesis(0, 4 * MB) == Region(22397, 2048 - 1426)


def test_a_region_at_the_end_of_the_inodes_is_an_eighth_inodes() -> None:
    start = region_start("tables-end", 4 * MB, THESIS)
    assert start == 1424 * 2048 - MB // 2
    assert thesis(start, 4 * MB) == Region(4096, 7 * MB // 2 // 2048 - 2)


def test_a_region_in_the_middle_is_likewise_in_the_middle_group() -> None:
    start = region_start("middle", 4 * MB, THESIS)
    assert start - region_start("tables-end", 4 * MB, THESIS) == 115 * 91136 * 2048
    assert thesis(start, 4 * MB) == Region(4096, 7 * MB // 2 // 2048)


def test_a_region_of_two_groups_or_of_nothing_is_refused() -> None:
    group = 91136 * 2048
    with pytest.raises(ValueError, match=f"expected at most {group}, where its group ends"):
        thesis(group - MB, 4 * MB)
    with pytest.raises(ValueError, match="where the file system ends"):
        thesis(40 << 30, 4 * MB)
    with pytest.raises(ValueError, match="has no inode and no fragment"):
        thesis(0, 4096)
    with pytest.raises(ValueError, match="has 22401 inodes, expected at most 22400"):
        thesis(4 * MB, MB, 22401)


def test_a_region_where_data_begin_has_the_first_inodes_of_its_group() -> None:
    start = region_start("data", 4 * MB, THESIS)
    assert start == 1424 * 2048
    inodes = first_inodes(4 * MB, THESIS.ipg, THESIS.inode_bytes)
    assert inodes == 22400  # all of the group's: they are less than 4 MB
    assert thesis(start, 4 * MB, inodes) == Region(22397, 2048 - 2)  # without the summaries
    assert THESIS.places(start, 4 * MB, inodes) == [(24 * 2048, 22400 * 128), (start, 4 * MB)]
    today = geometry("freebsd15", 40 << 30)
    start = region_start("data", 4 * MB, today)
    inodes = first_inodes(4 * MB, today.ipg, today.inode_bytes)
    assert Region.of("freebsd15", 40 << 30, start, 4 * MB, inodes) == Region(16384 - 3, 1023)


@pytest.mark.parametrize(("name", "most"), [("freebsd14", SUJ_MAX), ("freebsd15", None)])
def test_with_a_journal_free_data_begin_behind_it_and_the_root(name: str, most: int | None) -> None:
    partition = TODAY.ncg * TODAY.fpg * TODAY.fsize
    sizes = geometry(name, partition, journal=True)
    assert (sizes.fpg, sizes.groups, sizes.dblkno) == (TODAY.fpg, TODAY.ncg, TODAY.dblkno)
    first = TODAY.dblkno + 8  # the block of the summaries and the root's first fragment
    assert sizes.free == first + (journal_blocks(TODAY, most) + 1) * 8
    assert region_start("data", 4 * MB, sizes) == sizes.free * 4096


def test_where_the_journal_leaves_no_room_the_region_is_in_the_next_group() -> None:
    today = geometry("freebsd15", 40 << 30)
    full = replace(today, free=today.fpg - 1000)
    assert region_start("data", 4 * MB, full) == (today.fpg + today.dblkno) * 4096
    assert region_start("data", 2 * MB, full) == full.free * 4096


def test_the_last_inodes_of_a_ufs2_group_are_no_region() -> None:
    today = geometry("freebsd14", 40 << 30)
    start = region_start("tables-end", 4 * MB, today)
    with pytest.raises(ValueError, match="begins with inode 78080, expected 3, the first of its"):
        Region.of("freebsd14", 40 << 30, start, 4 * MB, 0)


def test_a_region_larger_than_eight_inode_tables_begins_where_they_do() -> None:
    assert region_start("tables-end", 64 * MB, THESIS) >= 24 * 2048


def test_a_region_can_begin_at_any_byte() -> None:
    assert region_start("3M", 4 * MB, THESIS) == 3 * MB
    with pytest.raises(ValueError, match="'end' is no place of a region: expected bytes, tables-"):
        region_start("end", 4 * MB, THESIS)


def test_the_sizes_are_those_that_newfs_takes() -> None:
    assert geometry("freebsd48", 40 << 30) == THESIS
    today = geometry("freebsd14", 40 << 30)
    assert (today.fsize, today.bsize) == (4096, 32768)
    with pytest.raises(ValueError, match="freebsd48"):
        geometry("ext4", 40 << 30)
    with pytest.raises(ValueError, match="expected"):
        geometry("freebsd48", 1000)
