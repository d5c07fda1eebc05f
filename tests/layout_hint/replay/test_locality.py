"""Target, Optimal and a random region's share (thesis section 7.2), of counts made by hand."""

from __future__ import annotations

import pyarrow as pa
import pytest

from birthmark.layout_hint.replay.locality import locality


def counts(*rows: tuple[int, int, int]) -> pa.Table:
    """Return counts of blocks, reads and writes."""
    block, reads, writes = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "block": pa.array(block, pa.int64()),
            "reads": pa.array(reads, pa.uint32()),
            "writes": pa.array(writes, pa.uint32()),
        }
    )


# a region of two blocks, 2 and 3, is touched once each way of 10 reads and 10 writes
SOME = counts((2, 1, 0), (3, 0, 1), (4, 6, 0), (5, 3, 2), (9, 0, 4), (10, 0, 3))


def test_target_is_the_share_of_operations_in_the_region() -> None:
    assert locality(SOME, [(8192, 8192)]).target == (2 / 20, 1 / 10, 1 / 10)


def test_optimal_is_the_share_of_as_many_blocks_chosen_for_each_column_apart() -> None:
    total, read, write = locality(SOME, [(8192, 8192)]).optimal
    assert (total, read, write) == (11 / 20, 9 / 10, 7 / 10)
    assert total < (10 * read + 10 * write) / 20


def test_a_random_region_has_its_blocks_of_all_that_were_touched() -> None:
    assert locality(SOME, [(8192, 8192)]).random == pytest.approx(2 / 6)
    assert locality(SOME, [(0, 1 << 20)]).random == 1


def test_a_region_that_begins_or_ends_inside_a_block_has_that_block() -> None:
    assert locality(SOME, [(3 * 4096 + 2048, 2048)]).target == (1 / 20, 0, 1 / 10)
    assert locality(SOME, [(3 * 4096 + 2048, 4096)]).target == (7 / 20, 6 / 10, 1 / 10)


def test_no_operations_are_no_share() -> None:
    found = locality(counts(), [(0, 4096)])
    assert (found.target, found.optimal, found.random) == ((0, 0, 0), (0, 0, 0), 0)


def test_a_region_of_two_places_is_what_falls_into_either_of_them() -> None:
    apart = locality(SOME, [(8192, 4096), (12288, 4096)])
    assert apart == locality(SOME, [(8192, 8192)])
