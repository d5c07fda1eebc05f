"""Counts of blocks in rows and columns."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.layout_hint.report import heat
from tests.layout_hint.report.made import REGION, SIZES, counts

GROUP = 178 << 20


def table(*rows: tuple[int, int, int]) -> pa.Table:
    block, reads, writes = zip(*rows, strict=True)
    return pa.table({"block": block, "reads": reads, "writes": writes})


def test_operations_are_in_the_row_of_their_group_and_the_column_of_their_place() -> None:
    each = GROUP // 4096
    # a group is 178 MB (facts of newfs for 40 GB), so a column is 1 MB: 256 blocks
    grid = heat.groups(
        table((0, 1, 2), (255, 0, 3), (256, 0, 4), (each, 0, 5), (3 * each - 1, 0, 6)),
        "writes",
        SIZES,
    )
    assert grid.shape == (231, 178)
    assert (grid[0, 0], grid[0, 1], grid[1, 0], grid[2, 177]) == (5, 4, 5, 6)
    assert grid.sum() == 20


def test_no_operation_is_lost() -> None:
    made = counts("HotDir", 1)
    for column in ("reads", "writes"):
        assert heat.groups(made, column, SIZES).sum() == pc.sum(made[column]).as_py()


def test_the_regions_blocks_follow_each_other_in_rows_and_what_is_behind_its_end_is_nothing() -> (
    None
):
    made = table((9, 9, 9), (10, 1, 5), (74, 2, 6), (109, 3, 7), (110, 9, 9))
    grid = heat.blocks(made, "writes", [(10 * 4096, 100 * 4096)])
    assert grid.shape == (2, 64)
    assert (grid[0, 0], grid[1, 0], grid[1, 35]) == (5, 6, 7)
    assert np.nansum(grid) == 18
    assert np.isnan(grid[1, 36:]).all()
    assert not np.isnan(grid[1, :36]).any()


def test_the_inode_table_and_the_data_begin_where_the_file_system_has_them() -> None:
    # fragments 24 and 1424 of 2 KB
    assert heat.bounds([(0, REGION)], SIZES) == [12, 712]
    assert heat.bounds([(1424 * 2048, REGION)], SIZES) == []
    assert heat.bounds([(5 * GROUP, REGION)], SIZES) == [12, 712]
    # first inodes, then data: where the second of these begins
    assert heat.bounds([(24 * 2048, 16384), (1424 * 2048, REGION)], SIZES) == [4]


def test_the_blocks_of_two_places_follow_each_other() -> None:
    made = table((2, 1, 5), (11, 1, 6), (12, 9, 9))
    grid = heat.blocks(made, "writes", [(0, 10 * 4096), (10 * 4096, 2 * 4096)])
    assert (grid[0, 2], grid[0, 11]) == (5, 6)
    assert np.nansum(grid) == 11


def test_the_region_begins_in_its_group_and_column() -> None:
    place = heat.corner(2 * GROUP + (3 << 20), REGION, SIZES)
    assert (place.group, place.piece, place.pieces) == (2, 3, 4)


def test_groups_that_nothing_used_are_left_out_where_few_were() -> None:
    grids = [np.zeros((231, 178)), np.zeros((231, 178))]
    grids[0][7, 3] = grids[1][200, 9] = 1
    assert heat.shown(grids, 5).tolist() == [5, 7, 200]
    assert heat.shown([heat.groups(counts("Default", 1), "writes", SIZES)], 5).tolist() == list(
        range(231)
    )
