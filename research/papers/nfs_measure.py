"""The experiments of Ellard and Seltzer: one run of each, by the names of their figures."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from birthmark.research.native import storage_counts
from birthmark.research.papers.claims import Figures
from birthmark.research.papers.nfs_runs import (
    AGED,
    BUSY,
    FIFO,
    LARGE,
    LOCAL,
    MB,
    READERS,
    SMALL,
    TCP,
    Disk,
    nfs,
    run,
)

DISKS: tuple[Disk, ...] = ("ide", "scsi")
SIZE = 256 * MB
STRIDES = (2, 4, 8)
TAGS: dict[Disk, dict[str, Any] | None] = {"ide": None, "scsi": AGED}
"""For Table 1: tagged queues are on by default; the paper does not state its setting."""

CALL = 8192
"""Bytes of a call over NFS."""


def measure(seed: int, size: int = SIZE) -> Figures:
    """Return the figures of all experiments, with files of ``size`` bytes together.

    Rates in MB/s are called ``<experiment> <drive> <readers or strides>``.
    """
    return (
        _local(seed, size)
        | _queues(seed, size)
        | _transports(seed, size)
        | _heuristics(seed, size)
        | _strides(seed, size)
        | _sequences(seed, size)
    )


def _local(seed: int, size: int) -> dict[str, float]:
    """Return the rates of local processes: Figures 1 and 2."""
    found = {}
    for readers in READERS:
        for disk in DISKS:
            for partition in (1, 4):
                own = run(disk, seed, LOCAL, readers=readers, partition=partition, size=size)
                found[f"local {disk}{partition} {readers}"] = own["rate"]
        for name, tags in (("fifo", FIFO), ("aged", AGED)):
            own = run("scsi", seed, LOCAL, readers=readers, tags=tags, size=size)
            found[f"tags {name} {readers}"] = own["rate"]
    return found


def _queues(seed: int, size: int) -> dict[str, float]:
    """Return the finishing times of eight processes, in seconds: Figure 3."""
    found: dict[str, float] = {}
    for disk in DISKS:
        for order in ("elevator", "n_cscan"):
            own = run(disk, seed, LOCAL, readers=8, order=order, size=size)
            found |= _ends(f"{order} {disk}", own)
    for name, tags in (("fifo", FIFO), ("aged", AGED)):
        found |= _ends(f"{name} scsi", run("scsi", seed, LOCAL, readers=8, tags=tags, size=size))
    return found


def _ends(name: str, own: dict[str, Any]) -> dict[str, float]:
    return {f"done {name} {place}": end / 1e9 for place, end in enumerate(own["ends"], 1)}


def _transports(seed: int, size: int) -> dict[str, float]:
    """Return the rates over UDP and TCP: Figures 4 and 5."""
    found = {}
    transports: dict[str, dict[str, Any]] = {"udp": {}, "tcp": TCP}
    for readers in READERS:
        for disk in DISKS:
            for name, more in transports.items():
                at = nfs(seed, "default4", **more)
                own = run(disk, seed, at, readers=readers, size=size)
                found[f"{name} {disk} {readers}"] = own["rate"]
                found[f"overtaken {name} {disk} {readers}"] = _percent(own, "overtaken")
        own = run("ide", seed, nfs(seed, "default4", iods=1), readers=readers, size=size)
        found[f"overtaken one {readers}"] = _percent(own, "overtaken")
    return found


def _heuristics(seed: int, size: int) -> dict[str, float]:
    """Return the rates of heuristics and tables over UDP: Figures 6 and 7."""
    found = {}
    tables = {"small": SMALL, "large": LARGE}
    clients: dict[str, dict[str, Any]] = {"idle": {}, "busy": BUSY}
    for readers in READERS:
        for heuristic in ("default4", "slow_down", "always"):
            for name, table in tables.items():
                own = run("ide", seed, nfs(seed, heuristic, table), readers=readers, size=size)
                found[f"{name} {heuristic} {readers}"] = own["rate"]
        for heuristic in ("default4", "always"):
            for name, more in clients.items():
                at = nfs(seed, heuristic, **more)
                own = run("ide", seed, at, readers=readers, size=size)
                found[f"{name} {heuristic} {readers}"] = own["rate"]
    return found


def _strides(seed: int, size: int) -> dict[str, float]:
    """Return the rates of one reader at several places of a file in turn: Figure 8, Table 1."""
    found = {}
    heuristics: dict[str, Any] = {"default": "default4", "cursor": {"cursors": 8}}
    for disk in DISKS:
        for strides in STRIDES:
            for name, heuristic in heuristics.items():
                at = nfs(seed, heuristic)
                own = run(disk, seed, at, strides=strides, tags=TAGS[disk], size=size)
                found[f"stride {name} {disk} {strides}"] = own["rate"]
    return found


def _sequences(seed: int, size: int) -> dict[str, float]:
    """Return the sequence counts of windows and counters for calls that overtake one another."""
    own = run("ide", seed, nfs(seed, "default4"), readers=4, size=size)
    found = {
        f"in order {window}": 100 * in_order / own["calls"]
        for window, in_order in zip((5, 10), own["in_order"], strict=True)
    }
    for percent in (5, 10):
        offsets = _swapped(Random(seed), size // CALL, percent / 100)
        counts = storage_counts(json.dumps("default4"), offsets, CALL)
        found[f"count {percent}"] = sum(counts) / len(counts)
    return found


def _swapped(random: Random, calls: int, share: float) -> list[int]:
    """Return offsets of a file's calls; the next call overtakes a share of them."""
    offsets = [number * CALL for number in range(calls)]
    for place in range(calls - 1):
        if random.random() < share:
            offsets[place : place + 2] = offsets[place + 1], offsets[place]
    return offsets


def _percent(own: dict[str, Any], name: str) -> float:
    return float(100 * own[name] / own["calls"])
