"""The directories of hot births, and the files that are written repeatedly."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.durations import HOUR
from birthmark.features.columns import decoded
from birthmark.predictor.heat.directories import directories
from birthmark.predictor.heat.places import Places
from birthmark.predictor.predicates import blocks

HOT_BLOCKS = 1024
"""Greatest number of a file's blocks of 4 KB in the region: its first 4 MB, the allocator's
default limit."""

_SYNC = 30 / 3600
"""Hours between two writes of a block that is always dirty: the syncer's interval of 30 seconds."""


def hot_directories() -> Places:
    """Return a ``Places`` of directories.

    The worth of each is the number of hot births in it in the period; its size and room are 1.
    """
    return Places("heat-hot-directories.arrow", [["uid"], ["name"], ["uid", "name"]])


def hot_writes() -> Places:
    """Return a ``Places`` of files.

    The worth of each is its repeated block writes to the disk; its size, blocks times hours; its
    room, the blocks that the region holds of it, on average over the period.
    """
    levels = [["suffix"], ["uid", "suffix"], ["name"], ["uid", "name"]]
    return Places("heat-hot-writes.arrow", levels)


def directories_in(files: pa.Table) -> pa.Table:
    """Return the directories of a files table, one per row of ``places.PLACES``."""
    table = directories(files)
    ones = pa.repeat(pa.scalar(1.0), len(table))
    return pa.table(
        {
            "uid": pc.coalesce(table["uid"], table["owner"]),
            "name": table["name"],
            "things": ones,
            "worth": table["hot_births"].cast(pa.float64()),
            "size": ones,
            "room": ones,
        }
    )


def files_in(files: pa.Table) -> pa.Table:
    """Return the regular files of a files table likewise, including those older than the trace.

    A block is written to the disk at most once in 30 seconds, however often a client writes it.
    For files born in the trace the first write does not count: every block must be written once,
    wherever it lies.
    """
    files = files.filter(pc.equal(files["kind"], "file"))
    hours, own = (np.asarray(of(files)) for of in (blocks.hours_watched, blocks.own_blocks))
    first = own * np.asarray(files["birth_seen"])
    repeated = np.asarray(blocks.block_writes(files)) - first
    written = np.clip(repeated, 0, own * hours / _SYNC)
    return pa.table(
        {
            "uid": pc.coalesce(files["uid"], files["owner"]),
            "name": decoded(files["name"]),
            "things": np.ones(len(files)),
            "worth": written,
            "size": own * hours,
            "room": np.minimum(own, HOT_BLOCKS) * hours / max(_hours_in_all(files), 1e-9),
        }
    )


def _hours_in_all(files: pa.Table) -> float:
    if not len(files):
        return 0.0
    since = pc.min(pc.coalesce(files["born"], files["first_seen"]).cast(pa.int64())).as_py()
    until = pc.max(files["observed_until"].cast(pa.int64())).as_py()
    return float(until - since) / HOUR
