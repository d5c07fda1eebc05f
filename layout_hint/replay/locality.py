"""Share of a disk's operations in a region, and the best possible (thesis section 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from birthmark.layout_hint.replay.conditions import BLOCK
from birthmark.layout_hint.replay.region import Place

Counts = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Locality:
    """Shares of all operations (total, reads, writes), as fractions; 0 without operations."""

    target: tuple[float, ...]  # operations in the region
    optimal: tuple[float, ...]  # operations on the hottest blocks, as many as it has
    random: float  # of a region's blocks in all blocks that were touched
    reads: int  # operations: blocks read, and written
    writes: int


def locality(counts: pa.Table, places: Sequence[Place]) -> Locality:
    """Return a region's shares from a run's counts (``LayoutTrace``: block, reads, writes).

    The hottest blocks are those with the most operations for Total, with the most reads for Read
    and with the most writes for Write. So does the thesis: in all but one row of its Tables 7.1 to
    7.3, Optimal's Total is below the weighted mean of Read and Write, which it would equal with the
    same blocks for all.

    A random region's expected share is its blocks divided by all blocks touched at least once, as
    in section 7.2.
    """
    blocks = counts["block"].to_numpy()
    reads, writes = (counts[name].to_numpy().astype(np.uint64) for name in ("reads", "writes"))
    room = sum(-(-length // BLOCK) for _, length in places)
    inside = np.zeros(len(blocks), np.bool_)
    for start, length in places:
        inside |= (blocks >= start // BLOCK) & (blocks < -(-(start + length) // BLOCK))
    every = (reads + writes, reads, writes)
    return Locality(
        target=tuple(_share(each[inside], each) for each in every),
        optimal=tuple(_share(_hottest(each, room), each) for each in every),
        random=min(1.0, room / len(blocks)) if len(blocks) else 0.0,
        reads=int(reads.sum()),
        writes=int(writes.sum()),
    )


def _share(part: Counts, whole: Counts) -> float:
    every = int(whole.sum())
    return int(part.sum()) / every if every else 0.0


def _hottest(counts: Counts, room: int) -> Counts:
    if len(counts) <= room:
        return counts
    return np.partition(counts, len(counts) - room)[len(counts) - room :]
