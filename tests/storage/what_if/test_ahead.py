"""Read-ahead by name: all that can be named can be simulated, and the names mean what they say."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pyarrow as pa
import pytest

from birthmark.storage.what_if.ahead import Policy, policy
from birthmark.storage.what_if.columns import CALLS, CLASSES
from birthmark.storage.what_if.server import Server
from birthmark.storage.what_if.simulate import Run, run


def waited(read_ahead: Policy, order: list[int], table: str = "none") -> tuple[int, int]:
    """Return the blocks read ahead, and the reads that missed, of 16 KB reads of one file."""
    count = len(order)
    columns = {
        "at": np.arange(count) * 50_000_000,
        "offset": np.array(order) << 14,
        "bytes": np.full(count, 1 << 14),
        "end": np.full(count, max(order) + 1) << 14,
        "class": np.full(count, CLASSES.index("read")),
    }
    nothing = np.zeros(count)
    arrays = [pa.array(columns.get(own.name, nothing)).cast(own.type) for own in CALLS]
    calls = pa.RecordBatch.from_arrays(arrays, schema=CALLS)
    server = Server(read_ahead=read_ahead, read_ahead_table=table)
    (outcome,) = run([Run(server, 1, "open")], [calls])
    return outcome["ahead"], round((1 - outcome["hit_ratio"]) * count)


@pytest.mark.parametrize("name", [name for name in get_args(Policy) if name != "none"])
def test_reads_in_order_are_read_ahead_by_every_policy(name: Policy) -> None:
    ahead, missed = waited(name, list(range(64)))
    assert ahead > 200
    assert missed <= 3


def test_without_read_ahead_every_read_misses() -> None:
    assert waited("none", list(range(64))) == (0, 64)


def test_a_table_is_named_by_entries_and_probes() -> None:
    found: Any = policy("slow_down", "64/4-lru", 0)
    table = found["counted"]["table"]
    assert (table["entries"], table["probes"]) == (64, 4)
    assert table["victim"] == "least_recently_used"
    assert found["counted"]["version"] == "v4"
