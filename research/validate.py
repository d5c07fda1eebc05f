"""Validation of a simulated drive against a measured one.

The trace holds requests that were measured one at a time, as in DiskSim's validation suite. Each
line is ``R|W Hit LBN SECTORS RESPONSE THINK``, times in microseconds. The drive serves the same
requests, each after the client's think time. The distance of the distributions of response times is
the demerit figure of Ruemmler and Wilkes, "An introduction to disk drive modeling", IEEE Computer
27(3), 1994.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from birthmark.layout_hint.disks import drive_path, read_drive
from birthmark.research.native import storage_validate


def validate(trace: str | Path, drive: str | Path) -> dict[str, Any]:
    """Return the figures of all requests, and of ``reads`` and ``writes`` alone.

    Args:
        trace: plain, or compressed with gzip, bzip2, xz or Zstandard; ``-`` is standard input.
        drive: the name of a drive, or a file that ends in ``.toml``.

    Returns:
        ``requests``, and in milliseconds ``mean_ms``, ``measured_mean_ms``, ``demerit_ms`` and
        ``parts_ms``: where the simulated mean goes. ``assumed``: the parameters of the drive that
        were not measured.

    Raises:
        OSError: a file cannot be read.
        ValueError: a file is no drive or no trace, or the drive lacks a sector; the message names
            the file and the place.
    """
    read = read_drive(drive)
    parameters = json.dumps(read.parameters())
    found: dict[str, Any] = json.loads(storage_validate(trace, parameters, drive_path(drive)))
    return found | ({"assumed": read.assumed} if read.assumed else {})
