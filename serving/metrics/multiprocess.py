"""Metrics of several workers, which add them up in files of a directory that they share."""

from __future__ import annotations

import logging
import os
from pathlib import Path

log = logging.getLogger(__name__)

METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the directory in which workers add up their metrics."""

ROOM = 1 << 20
"""Bytes of a worker's file of metrics of a kind: as much as prometheus_client begins with."""


def reserve() -> None:
    """Take the room that this worker's metrics need on the disk.

    They are mapped into memory: had the disk no more room when something is first counted, the
    worker would be killed (SIGBUS).
    """
    directory = os.environ.get(METRICS)
    if directory is None:
        return
    try:
        for kind in ("counter", "histogram"):
            place = Path(directory, f"{kind}_{os.getpid()}.db")
            aside = place.with_suffix(".new")  # others read what is there at any time
            with aside.open("wb", buffering=0) as file:
                if file.write(bytes(ROOM)) < ROOM:
                    file.write(b"0")  # says why
            aside.replace(place)
    except OSError as error:
        log.warning("%s: what this worker counts, other workers do not tell: %s", directory, error)
        del os.environ[METRICS]
