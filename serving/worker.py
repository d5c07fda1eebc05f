"""One of the processes that answer."""

from __future__ import annotations

import os
import signal
import threading
import time
from typing import TYPE_CHECKING

from serving import logs
from serving.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

METRICS = "PROMETHEUS_MULTIPROC_DIR"
"""The variable that names the directory in which workers add up their metrics."""

ALONE_SECONDS = 0.5


def application(settings: Settings, parent: int) -> FastAPI:
    """Return the application, in the process that serves it.

    `parent` is the process that was told to serve: this one, or the one that keeps its workers,
    which end when that has gone, so that another may listen in its place.
    """
    # Imported here: who keeps workers needs no model in memory.
    import pyarrow as pa

    from serving.app import create_app

    # Arrow's own pool keeps what each request, and each model before, once needed.
    pa.set_memory_pool(pa.system_memory_pool())
    logs.set_up(settings)
    if os.getpid() != parent:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    return create_app(settings)


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(ALONE_SECONDS)
    os.kill(os.getpid(), signal.SIGTERM)
