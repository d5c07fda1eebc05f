"""Sums of rows."""

from __future__ import annotations

import pyarrow as pa

from birthmark.data.common.sums import summed

ROWS = pa.table({"op": ["write", "read", "write"], "at": [1, 1, 2], "ops": [3, 4, 5]})


def test_rows_with_the_same_keys_are_added_in_the_order_in_which_these_come() -> None:
    found = summed(ROWS, ["op"], ["ops", "at"])
    assert found.to_pydict() == {"op": ["write", "read"], "ops": [8, 4], "at": [3, 1]}


def test_without_keys_all_rows_are_one_and_no_rows_are_nothing() -> None:
    assert summed(ROWS, [], ["ops"]).to_pylist() == [{"ops": 12}]
    assert summed(ROWS.slice(0, 0), [], ["ops"]).to_pylist() == [{"ops": 0}]
    assert summed(ROWS.slice(0, 0), ["op"], ["ops"]).to_pylist() == []
