"""The blocks that a file occupied and wrote, estimated from the files table.

A block is 4 KB, the unit in which the thesis counts a disk's reads and writes (section 7.1). The
table holds a life's writes, their bytes and its largest size, but not the offset of each write. So
the counts are lower bounds: every write touches a block, and *n* bytes touch n / 4096 blocks. They
find 98.6 percent of the block writes of a captured day, whose offsets are known.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.durations import HOUR

BLOCK = 4096
"""Bytes of a block."""


def block_writes(files: pa.Table) -> pa.Array:
    """Return the number of block writes in each life, with repeats (float64)."""
    by_bytes = _blocks_of(files["bytes_written"])
    return pc.max_element_wise(files["writes"].cast(pa.float64()), by_bytes)


def own_blocks(files: pa.Table) -> pa.Array:
    """Return the number of blocks of each life at its largest (float64), 0 without a known size.

    A life with writes has at least one block.
    """
    held = _blocks_of(pc.fill_null(files["max_size"], 0))
    return pc.max_element_wise(held, pc.greater(files["writes"], 0).cast(pa.float64()))


def hours_watched(files: pa.Table) -> pa.Array:
    """Return the hours for which the trace observed each life, from birth or first sight."""
    since = pc.coalesce(files["born"], files["first_seen"]).cast(pa.int64())
    until = files["observed_until"].cast(pa.int64())
    watched = pc.max_element_wise(pc.subtract(until, since), 0)
    return pc.divide(watched.cast(pa.float64()), float(HOUR))


def _blocks_of(size: pa.Array) -> pa.Array:
    return pc.ceil(pc.divide(size.cast(pa.float64()), float(BLOCK)))
