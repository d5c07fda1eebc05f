"""Suggesting a region for a file system: a free range of one cylinder group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from birthmark.data.common.sizes import in_words
from birthmark.layout_hint.replay.region import first_inodes
from birthmark.layout_hint.superblock import (
    Flags,
    GroupMaps,
    Superblock,
    UfsError,
    group_maps,
    superblock,
)

ENOUGH = 0.5
"""Least free share of a region's data, and of the inodes that these need."""

_ROOT = 2  # no file has an inode up to that of the root


@dataclass(frozen=True)
class Suggestion:
    """A region, and how much of it hot files can use."""

    format: str
    journal: bool  # soft updates with a journal
    groups: int
    group_bytes: int
    block_bytes: int
    group: int
    region_start: int  # these three as the helper's options have them
    region_length: int
    region_inodes: int
    inodes: int  # that a file may have
    inodes_free: int
    bytes_free: int  # of its data
    bytes_usable: int  # of these, the bytes in blocks that are wholly free


def suggest(path: Path, length: int, group: int | None = None) -> Suggestion:
    """Return the region of ``length`` bytes of data that suits a file system best.

    It is the first wholly free range of blocks in the first group, or in ``group``; if there is
    none, the range with the most free blocks, at least half. It has as many bytes of the group's
    first inodes, and more if too few of these are free.

    Raises:
        UfsError: as ``superblock`` and ``group_maps`` do; or the group does not exist; or no group
            has the space.

        OSError: it cannot be read.
    """
    with path.open("rb", buffering=0) as file:
        found = superblock(file.fileno(), path)
        if group is not None and group >= found.ncg:
            raise UfsError(f"{path}: expected a cylinder group below {found.ncg}; found {group}")
        groups = range(found.ncg) if group is None else [group]
        blocks = _blocks(path, found, length, groups[0])
        maps = ((each, group_maps(file.fileno(), path, found, each)) for each in groups)
        return _best(path, found, blocks, maps)


def _blocks(path: Path, found: Superblock, length: int, group: int) -> int:
    """Return ``length`` in whole blocks; refuse more than a group has."""
    frag = found.bsize // found.fsize
    most = found.fragments(group) // frag + -found.first_data(group) // frag
    if not 0 < length // found.bsize <= most:
        raise UfsError(
            f"{path}: expected from {found.bsize:,} to {most * found.bsize:,} bytes, which group"
            f" {group} has for data; found {length:,}"
        )
    return length // found.bsize


def _best(
    path: Path, found: Superblock, blocks: int, maps: Iterator[tuple[int, GroupMaps]]
) -> Suggestion:
    best, longest, seen = None, (0, 0), []
    for group, free in maps:
        seen.append(group)
        whole = _whole_blocks(found, group, free)
        longest = max(longest, (_longest_run(whole), -group))
        each = _in_group(found, group, free, whole, blocks)
        if each is not None and (best is None or each.bytes_usable > best.bytes_usable):
            best = each
        if best is not None and best.bytes_usable == blocks * found.bsize:
            break
    if best is not None:
        return best
    raise UfsError(f"{path}: {_refusal(found, blocks, longest, seen)}")


def _refusal(found: Superblock, blocks: int, longest: tuple[int, int], seen: list[int]) -> str:
    groups = f"group {seen[0]}" if len(seen) == 1 else f"any of {len(seen)} cylinder groups"
    run, group = longest[0] * found.bsize, -longest[1]
    smaller = f", or use --region {run >> 10}K: that is free in a row in group {group}"
    return (
        f"expected {in_words(blocks * found.bsize)} of data in {groups} of which half is free, and"
        f" free inodes for it; found none: free some space{smaller if run else ''}"
    )


def _whole_blocks(found: Superblock, group: int, free: GroupMaps) -> Flags:
    """Return which of a group's blocks are wholly free; none before its data."""
    frag, last = found.bsize // found.fsize, found.fragments(group)
    blocks = free.fragments[: last // frag * frag].reshape(-1, frag)
    whole = np.asarray(blocks.all(axis=1), np.bool_)
    whole[: -(-found.first_data(group) // frag)] = False
    return whole


def _longest_run(whole: Flags) -> int:
    """Return the length of the longest run of free blocks."""
    gaps = np.flatnonzero(~np.concatenate(([False], whole, [False])))
    return int(np.diff(gaps).max()) - 1


def _in_group(
    found: Superblock, group: int, free: GroupMaps, whole: Flags, blocks: int
) -> Suggestion | None:
    """Return the group's best region; None if too little is free."""
    frag, lowest = found.bsize // found.fsize, _ROOT + 1 if group == 0 else 0
    start = -(-found.first_data(group) // frag)
    counts = _sums(whole, blocks)[start:]
    if not len(counts) or counts.max() < ENOUGH * blocks:
        return None
    start += int(counts.argmax())
    wanted = first_inodes(blocks * found.bsize, found.ipg, found.inode_bytes)
    usable = free.inodes.copy()
    usable[:lowest] = False
    inodes = _enough_inodes(usable, wanted, min(wanted, blocks * frag))
    if inodes is None:
        return None
    fragments = free.fragments[start * frag : (start + blocks) * frag]
    return Suggestion(
        format=found.format,
        journal=found.journal,
        groups=found.ncg,
        group_bytes=found.fpg * found.fsize,
        block_bytes=found.bsize,
        group=group,
        region_start=(group * found.fpg + start * frag) * found.fsize,
        region_length=blocks * found.bsize,
        region_inodes=inodes,
        inodes=max(inodes - lowest, 0),
        inodes_free=int(usable[:inodes].sum()),
        bytes_free=int(fragments.sum()) * found.fsize,
        bytes_usable=int(counts.max()) * found.bsize,
    )


def _sums(whole: Flags, blocks: int) -> np.ndarray:
    """Return the number of free blocks in each window of ``blocks`` blocks."""
    before = np.concatenate(([0], np.cumsum(whole)))
    return before[blocks:] - before[:-blocks]


def _enough_inodes(free: Flags, wanted: int, needed: int) -> int | None:
    """Return the number of a group's first inodes that include enough free ones.

    A file has one inode and at least one fragment, so as many as fragments are needed. None if not
    half of them are free.
    """
    before = np.cumsum(free)
    if not len(before) or before[-1] < ENOUGH * needed:
        return None
    return max(wanted, int(np.searchsorted(before, min(needed, before[-1]))) + 1)
