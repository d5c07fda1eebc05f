"""Serving a load by a system."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from birthmark.layout_hint.disks import read_drive
from birthmark.research.attached.loads import NFS, WEB, Load, Nfs
from birthmark.research.attached.systems import COSTS, Organization, System
from birthmark.research.native import storage_attached
from birthmark.research.settings import AttachedOptions

ORGANIZATIONS: tuple[Organization, ...] = ("server_disk", "net_disk")
"""All organizations, in display order."""


def compare(load: str, asked: AttachedOptions) -> dict[str, dict[str, Any]]:
    """Return each organization's results for a load: ``nfs``, ``web``, or a trace's path."""
    loads: dict[str, Load] = {"nfs": NFS, "web": WEB}
    if load not in loads and not Path(load).exists():
        raise ValueError(f"expected {', '.join(loads)}, or a trace; found {load}, which is no file")
    found: dict[str, dict[str, Any]] = {}
    for organization in ORGANIZATIONS:
        system = System(
            organization=organization,
            disks=asked.disks,
            manager_mips=asked.manager_mips,
            manager_cache_mb=asked.manager_cache_mb,
            disk_mips=asked.disk_mips,
            disk_cache_mb=asked.disk_cache_mb,
            costs=COSTS[asked.costs],
        )
        found[organization] = serve(
            system,
            loads.get(load) or Path(load),
            requests=asked.requests,
            warm_up=asked.warm_up,
            seed=asked.seed,
            drive=asked.drive,
        )
    return found


def serve(
    system: System,
    load: Load | Path,
    *,
    requests: int = 2**62,
    warm_up: int = 0,
    seed: int = 1,
    drive: str = "",
) -> dict[str, Any]:
    """Return a system's results for a load, and where the time goes.

    Args:
        system: the system that answers.
        load: synthetic, or a trace in the format of the Auspex trace, plain or compressed.
        requests: the most requests that are served; a synthetic load has no end.
        warm_up: the requests before them that only fill the caches.
        seed: of a synthetic load, and of the positions at which files begin.
        drive: the model of each disk, as for ``read_drive``; else a time that depends on size
            alone.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is no trace or no drive, or there is no such system.
    """
    if isinstance(load, Path):
        description: dict[str, Any] = {"trace": str(load)}
    else:
        description = {"nfs" if isinstance(load, Nfs) else "web": asdict(load)}
    parameters = read_drive(drive).parameters() if drive else None
    experiment = {
        "system": asdict(system) | {"drive": parameters},
        "load": description,
        "seed": seed,
        "warm_up": warm_up,
        "requests": requests,
    }
    found: dict[str, Any] = json.loads(storage_attached(json.dumps(experiment)))
    if not found["response"]["count"]:
        raise ValueError(f"{load}: expected requests behind the warm-up's, found none")
    return found
