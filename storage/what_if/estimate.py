"""Estimates of a server's unknowns from the latencies of its calls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from birthmark.data.common.arrays import Bools, Floats
from birthmark.storage.what_if.columns import CLASSES
from birthmark.storage.what_if.memory import Memory, memory_of
from birthmark.storage.what_if.sample import Sample
from birthmark.storage.what_if.server import ASSUMED_WORK, Distribution
from birthmark.storage.what_if.service import LEAST_CALLS, distribution, per_byte


@dataclass(frozen=True)
class Estimate:
    """Estimates from calls that came alone.

    Attributes:
        work: processor time of calls, by class.
        memory: which reads missed, and how much memory is in use.
        disk_read: a disk's time for a read; None: too few missed.
        disk_write: the time until a write is stable; None: too few had to be.
    """

    work: dict[str, Distribution]
    memory: Memory
    disk_read: Distribution | None
    disk_write: Distribution | None


def estimate(sample: Sample) -> Estimate:
    """Return estimates from some calls."""
    alone = sample.take(sample.alone)
    reads = alone.take(alone.of("read") & ~np.isnan(alone.distance))
    memory = memory_of(reads.latency, reads.distance)
    work = {
        name: _of(alone, rows)
        for name in CLASSES
        if (rows := _plain(alone, name)).sum() >= LEAST_CALLS
    }
    hits = reads.take(memory.missed < 0.5)
    if len(hits) >= LEAST_CALLS:
        work["read"] = _of(hits, np.ones(len(hits), bool))
    disk_read = _disk_read(reads.take(memory.missed >= 0.5), work.get("read"))
    disk_write = _disk_write(alone, work)
    if disk_write is not None:
        work["commit"] = _commit(alone, work, disk_write)
    return Estimate(work, memory, disk_read, disk_write)


def _of(calls: Sample, rows: Bools) -> Distribution:
    return distribution(calls.latency[rows], calls.bytes[rows])


def _plain(calls: Sample, name: str) -> Bools:
    """Return the calls of a class that wait for no disk, as far as that is known."""
    rows = calls.of(name)
    return rows & ~calls.stable if name == "write" else rows


def _behind(calls: Sample, work: Distribution) -> tuple[Floats, Floats]:
    """Return the time of calls beyond their processor work, and the bytes that they move."""
    own = work.median() + work.ns_per_byte / 1000 * calls.bytes
    return np.maximum(calls.latency - own, 1.0), np.maximum(calls.dirty, calls.bytes)


def _disk_read(missed: Sample, work: Distribution | None) -> Distribution | None:
    if work is None or len(missed) < LEAST_CALLS:
        return None
    return distribution(*_behind(missed, work))


def _disk_write(alone: Sample, work: dict[str, Distribution]) -> Distribution | None:
    """Return the additional time until data is stable.

    Stable writes and commits together give the time per byte, because few writes are large. The
    rest comes from stable writes, because their bytes are known; without such writes, from commits.
    """
    writes = alone.take(alone.of("write") & alone.stable)
    commits = alone.take(alone.of("commit") & (alone.dirty > 0))
    own = work.get("getattr", work.get("write"))
    if own is None or max(len(writes), len(commits)) < LEAST_CALLS:
        return None
    both = [_behind(writes, work.get("write", own)), _behind(commits, own)]
    calls_used = both[0] if len(writes) >= LEAST_CALLS else both[1]
    slope = per_byte(*(np.concatenate(columns) for columns in zip(*both, strict=True)))
    return distribution(*calls_used, slope)


def _commit(alone: Sample, work: dict[str, Distribution], disk_write: Distribution) -> Distribution:
    """Return the processor time of commits: the rest without the disk's part.

    The shape is that of getattr, because the disk's spread hides it.
    """
    shape = work.get("getattr", ASSUMED_WORK)
    commits = alone.take(alone.of("commit") & ~np.isnan(alone.dirty))
    if len(commits) < LEAST_CALLS:
        return shape
    disk = np.where(commits.dirty > 0, disk_write.median(), 0)
    left = commits.latency - disk - disk_write.ns_per_byte / 1000 * commits.dirty
    return shape.scaled(max(float(np.median(left)) / shape.median(), 1.0))
