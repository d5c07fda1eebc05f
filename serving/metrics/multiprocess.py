"""Metrics of several workers, summed in the files of a shared directory."""

from __future__ import annotations

import logging
import os
from pathlib import Path

log = logging.getLogger(__name__)

METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""The environment variable that names the shared directory of the workers' metrics."""

ROOM = 1 << 20
"""Bytes of a worker's file for one type of metric: the initial size of prometheus_client."""


def reserve() -> None:
    """Allocate this worker's files of metrics on the disk.

    They are mapped into memory. If the disk were full at a first write, the worker would be killed
    (SIGBUS).
    """
    directory = os.environ.get(METRICS)
    if directory is None:
        return
    try:
        for kind in ("counter", "histogram"):
            path = Path(directory, f"{kind}_{os.getpid()}.db")
            partial = path.with_suffix(".new")  # other workers may read at any time
            with partial.open("wb", buffering=0) as file:
                if file.write(bytes(ROOM)) < ROOM:
                    file.write(b"0")  # raises the reason
            partial.replace(path)
    except OSError as error:
        log.warning("%s: other workers lack this worker's metrics: %s", directory, error)
        del os.environ[METRICS]
