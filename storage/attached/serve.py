"""A load, served by a system."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from birthmark.storage.attached.loads import Load, Nfs
from birthmark.storage.attached.systems import System
from birthmark.storage.drives import read_drive
from birthmark_native import storage_attached


def serve(
    system: System,
    load: Load | Path,
    *,
    requests: int = 2**62,
    warm_up: int = 0,
    seed: int = 1,
    drive: str = "",
) -> dict[str, Any]:
    """Return how a system answers a load, and where the time goes.

    Args:
        system: who answers.
        load: synthetic, or a trace in the format of the Auspex trace, plain or compressed.
        requests: how many are served at most; a synthetic load has no end.
        warm_up: how many before them are only shown to the caches.
        seed: of a synthetic load, and of where files begin.
        drive: what each disk is, instead of one that takes the same time for each size: as
            for ``read_drive``.

    Raises:
        OSError: a file cannot be read.
        ValueError: it is no trace or no drive, or there is no such system.
    """
    if isinstance(load, Path):
        told: dict[str, Any] = {"trace": str(load)}
    else:
        told = {"nfs" if isinstance(load, Nfs) else "web": asdict(load)}
    parameters = read_drive(drive).parameters() if drive else None
    experiment = {
        "system": asdict(system) | {"drive": parameters},
        "load": told,
        "seed": seed,
        "warm_up": warm_up,
        "requests": requests,
    }
    found: dict[str, Any] = json.loads(storage_attached(json.dumps(experiment)))
    return found
