"""The blocks that a file's life took and wrote, as far as the files table tells.

A block is 4 KB, the unit in which the thesis counts a disk's reads and writes (section 7.1). The
table holds a life's writes, their bytes and its largest size, but not where each write fell. So
the counts are the least that the trace allows: every write touches a block, and *n* bytes touch
n / 4096 blocks. Of the writes of a captured day, whose places are known, this finds 98.6 percent.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.durations import HOUR

BLOCK = 4096
"""Bytes of a block."""


def block_writes(files: pa.Table) -> pa.Array:
    """Return how many blocks were written in each life, every time counted (float64)."""
    by_bytes = _blocks_of(files["bytes_written"])
    return pc.max_element_wise(files["writes"].cast(pa.float64()), by_bytes)


def own_blocks(files: pa.Table) -> pa.Array:
    """Return how many blocks each life held at its largest (float64), 0 where no size was seen.

    What was written was held, too: a life with writes holds one block at least.
    """
    held = _blocks_of(pc.fill_null(files["max_size"], 0))
    return pc.max_element_wise(held, pc.greater(files["writes"], 0).cast(pa.float64()))


def hours_watched(files: pa.Table) -> pa.Array:
    """Return for how many hours the trace watched each life, from its birth or first sight on."""
    since = pc.coalesce(files["born"], files["first_seen"]).cast(pa.int64())
    until = files["observed_until"].cast(pa.int64())
    watched = pc.max_element_wise(pc.subtract(until, since), 0)
    return pc.divide(watched.cast(pa.float64()), float(HOUR))


def _blocks_of(size: pa.Array) -> pa.Array:
    return pc.ceil(pc.divide(size.cast(pa.float64()), float(BLOCK)))
