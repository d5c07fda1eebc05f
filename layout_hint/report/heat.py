"""Counts of blocks as grids of rows and columns."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from birthmark.layout_hint.replay.conditions import BLOCK
from birthmark.layout_hint.replay.region import Geometry, Place

Grid = npt.NDArray[np.float64]
Groups = npt.NDArray[np.int64]

PIECES = 178
"""Columns of the map: in the thesis's file system each is 1 MB of a cylinder group."""

ZOOM_COLUMNS = 64
"""Blocks in a row of the region's map: a row is 256 KB."""


FEW = 40
"""Number of used groups up to which the map leaves the others out."""


def groups(counts: pa.Table, column: str, sizes: Geometry) -> Grid:
    """Return the operations in each piece of each cylinder group: a row for a group.

    ``column`` is ``reads`` or ``writes``; pieces are :data:`PIECES` equal parts of a group.
    """
    each = sizes.fpg * sizes.fsize
    starts = counts["block"].to_numpy() * BLOCK
    rows, within = np.divmod(starts, each)
    pieces = within * PIECES // each
    inside = rows < sizes.groups
    weights = counts[column].to_numpy()[inside].astype(np.float64)
    places = rows[inside] * PIECES + pieces[inside]
    grid: Grid = np.bincount(places, weights, minlength=sizes.groups * PIECES).astype(np.float64)
    return grid.reshape(sizes.groups, PIECES)


def shown(maps: Sequence[Grid], group: int) -> Groups:
    """Return the groups of the maps' rows: all, or if few were used, these and one."""
    used = np.any([each.any(axis=1) for each in maps], axis=0)
    used[group] = True
    return np.flatnonzero(used) if used.sum() <= FEW else np.arange(len(used))


def blocks(counts: pa.Table, column: str, places: Sequence[Place]) -> Grid:
    """Return the operations on each 4 KB block of a region, :data:`ZOOM_COLUMNS` to a row.

    Places behind its end are NaN.
    """
    found = np.concatenate([_blocks(counts, column, *place) for place in places])
    line = np.full(math.ceil(len(found) / ZOOM_COLUMNS) * ZOOM_COLUMNS, np.nan)
    line[: len(found)] = found
    return line.reshape(-1, ZOOM_COLUMNS)


def _blocks(counts: pa.Table, column: str, start: int, length: int) -> Grid:
    first, last = start // BLOCK, -(-(start + length) // BLOCK)
    block = counts["block"].to_numpy()
    inside = (block >= first) & (block < last)
    weights = counts[column].to_numpy()[inside].astype(np.float64)
    return np.bincount(block[inside] - first, weights, minlength=last - first).astype(np.float64)


@dataclass(frozen=True)
class Corner:
    """Position of the region's first byte in the map."""

    group: int
    piece: float
    pieces: float  # length of the region


def corner(start: int, length: int, sizes: Geometry) -> Corner:
    """Return the region's position in the map, in rows and columns."""
    each = sizes.fpg * sizes.fsize
    group, within = divmod(start, each)
    return Corner(group, within * PIECES / each, length * PIECES / each)


def bounds(places: Sequence[Place], sizes: Geometry) -> list[int]:
    """Return the blocks of a region at which its group's inode table and its data begin.

    If it has two places, the second one begins there, too.
    """
    found, before = [], 0
    for start, length in places:
        base = start // (sizes.fpg * sizes.fsize) * sizes.fpg
        ends = [(base + at) * sizes.fsize for at in (sizes.iblkno, sizes.dblkno)]
        own = [at - start for at in ends if start < at < start + length]
        found += [before + at // BLOCK for at in ([0] if before else []) + own]
        before += -(-(start + length) // BLOCK) - start // BLOCK
    return found
