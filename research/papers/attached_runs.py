"""The experiments of Ma and Reddy's figures 3 to 10, with a seed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

from birthmark.research.attached import COSTS, NFS, WEB, Load, System, serve

CACHES = (4, 8, 16, 32)
"""MB of each disk in figures 3 and 4."""

MIPS = (10, 25, 50, 100)
"""Of each disk in figure 3."""

DISKS = (8, 16, 32)
"""In figure 4."""

MEMORIES = (192, 256, 384, 640, 1152, 2176)
"""MB altogether in figures 5 to 10: a server's, or a manager's 128 and the rest of 16 disks."""

EQUAL = {450: 25, 210: 10}
"""MIPS altogether in figure 6, and those of each of 16 disks beside a file manager of 50."""

LENGTH = {"nfs": 6_302_418, "web": 2_955_038}
"""Requests of the paper's traces (table 2)."""

TODAY = System(manager_mips=10_000, disk_mips=5_000, costs=COSTS["today"])
"""A system of today with the paper's memory: processors 200 times as fast."""


def name(trace: str, system: System) -> str:
    """Return the prefix of a system's figures."""
    label = f"{trace} {system.manager_mips:g} MIPS, {system.disks} disks"
    if system.costs == COSTS["today"]:
        label = f"today, {label}"
    if system.organization == "server_disk":
        return f"{label}, server {system.manager_cache_mb} MB"
    return f"{label}, net {system.disk_cache_mb} MB {system.disk_mips:g} MIPS"


def server(memory: int = 128, **changes: Any) -> System:
    """Return a server with this many MB."""
    return replace(System(), manager_cache_mb=memory, **changes)


def net(cache: int, **changes: Any) -> System:
    """Return disks on the network with this many MB each."""
    return replace(System(organization="net_disk"), disk_cache_mb=cache, **changes)


def each_disk(memory: int) -> int:
    """Return the MB of each of 16 disks beside a file manager with 128."""
    return (memory - 128) // 16


def nfs_systems() -> Iterator[System]:
    """Yield the systems of figures 3 to 8; some more than once."""
    for cache_mb in CACHES:
        yield from (net(cache_mb, disk_mips=mips) for mips in MIPS)
        yield from (net(cache_mb, disks=disks) for disks in DISKS)
    yield from (server(disks=disks) for disks in DISKS)
    yield from all_memories()
    for memory in MEMORIES[:4]:
        yield from (server(memory, manager_mips=mips) for mips in EQUAL)


def all_memories() -> Iterator[System]:
    """Yield both organizations with equal memory."""
    for memory in MEMORIES:
        yield from (server(memory), net(each_disk(memory)))


def web_systems() -> Iterator[System]:
    """Yield the systems of figures 9 and 10, and of section 5."""
    yield from all_memories()
    yield from (server(memory, manager_mips=450) for memory in MEMORIES)


def today_systems() -> Iterator[System]:
    """Yield both organizations of today with equal memory, and with that of figure 3."""
    for memory in (128, 640):
        yield replace(TODAY, manager_cache_mb=memory)
    yield replace(TODAY, organization="net_disk", disk_cache_mb=32)


def measure(seed: int, part: float = 1) -> dict[str, float]:
    """Return the figures of all systems, for a part of the traces' length."""

    @cache
    def figures(trace: str, system: System) -> dict[str, float]:
        load: Load = NFS if trace == "nfs" else WEB
        found = serve(system, load, requests=int(part * LENGTH[trace]), seed=seed)
        return labelled(name(trace, system), found)

    measured: dict[str, float] = {}
    for system in [*nfs_systems(), *today_systems()]:
        measured |= figures("nfs", system)
    for system in [*web_systems(), *today_systems()]:
        measured |= figures("web", system)
    return measured


def labelled(prefix: str, found: dict[str, Any]) -> dict[str, float]:
    """Return a system's figures, each with its label."""
    load, data = found["load"], found["data_parts_ms"]
    own = {
        "response": found["response"]["mean_ms"],
        "data response": found["data"]["mean_ms"],
        "hit ratio": found["hit_ratio"],
        "metadata requests": load["metadata_requests"] / load["requests"],
        "metadata bytes": load["metadata_bytes"] / load["bytes"],
        "MB": load["bytes"] / (1 << 20),
        "requests": load["requests"],
        "hours": load["seconds"] / 3600,
    }
    own |= {f"part {part}": value for part, value in data.items()}
    return {f"{prefix}: {key}": value for key, value in own.items()}
