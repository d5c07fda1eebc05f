"""Replaying a trace of a block device on a simulated drive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from birthmark.layout_hint.disks import drive_path, read_drive
from birthmark.research.native import storage_replay
from birthmark.research.settings import ReplayOptions


def replay(trace: str | Path, asked: ReplayOptions) -> dict[str, Any]:
    """Return a drive's times for the requests of a trace.

    Args:
        trace: plain, or compressed with gzip, bzip2, xz or Zstandard; ``-`` is standard input. It
            is read while it is served; only ``asked.issue`` dependent holds it in memory.
        asked: the drive, and the options of the replay.

    Returns:
        ``requests``, ``mean_ms``, ``p50_ms``, ``p95_ms`` and ``p99_ms``, the same for ``reads``,
        ``writes`` and as recorded in the trace (``traced``); ``parts_ms``, where the mean goes;
        ``seconds``, ``busy``, ``queue_most`` and ``out_of_order``. ``assumed``: the parameters of
        the drive that were not measured.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is no drive or no trace, or the drive lacks a sector; the message names
            the file and the place.
    """
    read = read_drive(asked.drive)
    options = {
        "drive": read.parameters(),
        "sector_bytes": asked.sector_bytes,
        "format": asked.format,
        "issue": {asked.issue: _issue(asked)},
        "order": asked.order,
        "wrap": asked.wrap,
    }
    found: dict[str, Any] = json.loads(
        storage_replay(trace, json.dumps(options), drive_path(asked.drive))
    )
    return found | ({"assumed": read.assumed} if read.assumed else {})


def _issue(asked: ReplayOptions) -> dict[str, float]:
    if asked.issue == "population":
        return {"clients": asked.clients, "think_ms": asked.think_ms}
    return {"faster": asked.faster}
