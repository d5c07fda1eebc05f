from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from birthmark.training.evaluate.distributions import DISTRIBUTIONS, distributions, patterns

Make = Callable[..., Any]


def by_name(table: pa.Table) -> dict[bytes, dict[str, Any]]:
    return {row["name"]: row for row in table.to_pylist()}


def test_names_are_shown_by_suffix_by_shared_prefix_or_whole() -> None:
    """The first column of Table 6.1: *.lock, *.cshrc, #pico*, INBOX."""
    drafts = [b"#pico%05d" % number for number in range(10)]
    shown = patterns([b"inbox.lock", b".cshrc", b"a.tar.gz", b"INBOX", b"ends.", *drafts])
    assert shown[b"inbox.lock"] == b"*.lock"
    assert shown[b".cshrc"] == b"*.cshrc"
    assert shown[b"a.tar.gz"] == b"*.gz"
    assert shown[b"INBOX"] == b"INBOX"
    assert shown[b"ends."] == b"ends."
    assert {shown[draft] for draft in drafts} == {b"#pico*"}


def test_a_prefix_that_few_names_share_is_not_made_a_pattern() -> None:
    shown = patterns([b"sent-mail", b"sent-items", b"sent-mail-jan"])
    assert set(shown.values()) == {b"sent-mail", b"sent-items", b"sent-mail-jan"}


def test_names_that_differ_only_in_final_zero_bytes_stay_apart(life: Make, files_of: Make) -> None:
    table = distributions(files_of(life(b"a"), life(b"a\0"), life(b"a\0")))
    assert {row["name"]: row["count"] for row in table.to_pylist()} == {b"a": 1, b"a\0": 2}


def test_cost_is_the_count_and_an_eighth_for_each_block_moved(life: Make, files_of: Make) -> None:
    """Section 6.2: accesses plus 0.125 times the number of 8K blocks transferred."""
    files = files_of(
        life(b"INBOX", None, bytes_read=8192 * 6, bytes_written=8192 * 2),
        life(b"INBOX", None, bytes_read=8192 * 8),
    )
    row = by_name(distributions(files))[b"INBOX"]
    assert (row["count"], row["cost"]) == (2, 4.0)


def test_only_the_patterns_with_the_greatest_cost_are_listed(life: Make, files_of: Make) -> None:
    files = files_of(
        life(b"x.a"), life(b"x.b", bytes_read=8192 * 80), life(b"y.b"), life(b"x.c"), life(b"y.c")
    )
    assert list(by_name(distributions(files, top=2))) == [b"*.b", b"*.c"]


def test_a_box_holds_extremes_5_and_95_percent_and_quartiles(life: Make, files_of: Make) -> None:
    files = files_of(*(life(b"n.log", 0, float(n), max_size=10 * n) for n in range(101)))
    row = by_name(distributions(files))[b"*.log"]
    assert row["size"] == [0, 50, 250, 500, 750, 950, 1000]
    assert row["lifespan"] == [0, 5, 25, 50, 75, 95, 100]
    assert (row["created"], row["alive"]) == (101, 0)


def test_a_lifespan_is_not_shown_for_fewer_than_ten_created_files(
    life: Make, files_of: Make
) -> None:
    """Section 6.2: fewer than 10 files created with the name, and (NA) is shown."""
    old = [life(b"old.a", None, 5) for _ in range(30)]
    nine = by_name(distributions(files_of(*old, *(life(b"new.a", 0, 5) for _ in range(9)))))
    ten = by_name(distributions(files_of(*old, *(life(b"new.a", 0, 5) for _ in range(10)))))
    assert nine[b"*.a"]["lifespan"] is None
    assert ten[b"*.a"]["lifespan"] == [5] * 7
    assert ten[b"*.a"]["count"] == 40


def test_files_still_alive_count_as_long_as_they_were_watched(life: Make, files_of: Make) -> None:
    files = files_of(*(life(b"n.log", 100, end=400) for _ in range(10)))
    row = by_name(distributions(files))[b"*.log"]
    assert row["lifespan"] == [300] * 7
    assert row["alive"] == 10


def test_a_size_never_seen_and_rows_that_are_not_files_are_left_out(
    life: Make, files_of: Make
) -> None:
    files = files_of(
        life(b"x.a", max_size=None),
        life(b"d.a", kind="directory", max_size=4096),
        life(b"u.a", kind=None),
        life(b"n.a") | {"name": None},
    )
    row = by_name(distributions(files))[b"*.a"]
    assert (row["count"], row["size"]) == (1, None)


@pytest.mark.parametrize("top", [0, 20])
def test_no_files_give_an_empty_table_of_the_same_schema(files_of: Make, top: int) -> None:
    table = distributions(files_of(), top)
    assert table.num_rows == 0
    assert table.schema.equals(DISTRIBUTIONS)
