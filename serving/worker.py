"""One of the processes that answer."""

from __future__ import annotations

import gc
import logging
import os
import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from birthmark.data.without import without_pandas
from birthmark.serving import logs
from birthmark.serving.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

log = logging.getLogger(__name__)

METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the directory in which workers add up their metrics."""

ROOM = 1 << 20
"""Bytes of a worker's file of metrics of a kind: as much as prometheus_client begins with."""

ALONE_SECONDS = 0.5


def application(settings: Settings, parent: int) -> FastAPI:
    """Return the application, in the process that serves it.

    `parent` is the process that was told to serve: this one, or the one that keeps its workers,
    which end when that has gone, so that another may listen in its place.
    """
    logs.set_up(settings)
    _reserve()
    # Imported here: who keeps workers needs no model in memory, and prometheus_client looks at its
    # variable when it is imported.
    import pyarrow as pa

    from birthmark.serving.app import create_app

    with without_pandas():
        pa.array([])
    # Arrow's own pool keeps what each request, and each model before, once needed.
    pa.set_memory_pool(pa.system_memory_pool())
    # What is imported stays: a collection of garbage that looked at all of it would hold up every
    # request for a tenth of a second, and a request for many files brings one on.
    gc.collect()
    gc.freeze()
    if os.getpid() != parent:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    return create_app(settings)


def _reserve() -> None:
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


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(ALONE_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
