"""A trace of a block device, served by a drive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from birthmark.layout_hint.disks import drive_path, read_drive
from birthmark.storage.settings import ReplayOptions
from birthmark_native import storage_replay


def replay(trace: str | Path, asked: ReplayOptions) -> dict[str, Any]:
    """Return how long a drive takes for the requests of a trace.

    Args:
        trace: plain, or compressed with gzip, bzip2, xz or Zstandard; ``-`` is standard input. It
            is read as it is served, and is not held in memory but for ``asked.issue`` dependent.
        asked: on which drive, and how.

    Returns:
        ``requests``, ``mean_ms``, ``p50_ms``, ``p95_ms`` and ``p99_ms``, the same for ``reads``,
        ``writes`` and as the trace itself tells them (``traced``); ``parts_ms``, where the mean
        goes; ``seconds``, ``busy``, ``queue_most`` and ``out_of_order``. ``assumed``, of a drive of
        which not all was measured: what was not.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is no drive or no trace, or the drive lacks a sector; the message names
            the file and the place.
    """
    read = read_drive(asked.drive)
    told = {
        "drive": read.parameters(),
        "sector_bytes": asked.sector_bytes,
        "format": asked.format,
        "issue": {asked.issue: _issue(asked)},
        "order": asked.order,
        "wrap": asked.wrap,
    }
    found: dict[str, Any] = json.loads(
        storage_replay(trace, json.dumps(told), drive_path(asked.drive))
    )
    return found | ({"assumed": read.assumed} if read.assumed else {})


def _issue(asked: ReplayOptions) -> dict[str, float]:
    if asked.issue == "population":
        return {"clients": asked.clients, "think_ms": asked.think_ms}
    return {"faster": asked.faster}
