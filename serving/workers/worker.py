"""The worker: one of the processes that answer."""

from __future__ import annotations

import gc
import os
import signal
from typing import TYPE_CHECKING

from birthmark.data.common.orphans import end_with
from birthmark.data.common.without_pandas import without_pandas
from birthmark.serving.log import service_log
from birthmark.serving.metrics import multiprocess
from birthmark.serving.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI


def application(settings: Settings, parent: int) -> FastAPI:
    """Return the application, in the process that serves it.

    `parent` is this process or its supervisor. A worker ends with its supervisor, so that another
    service can listen in its place.
    """
    service_log.set_up(settings)
    multiprocess.reserve()
    # Imported here: the supervisor needs no model in memory, and prometheus_client reads its
    # variable when it is imported.
    import pyarrow as pa

    from birthmark.serving.app.application import create_app

    with without_pandas():
        pa.array([])
    # Arrow's own pool would keep the memory of earlier requests and models.
    pa.set_memory_pool(pa.system_memory_pool())
    # Imported objects stay. A garbage collection that scans them would delay every request by a
    # tenth of a second, and a request for many files triggers one.
    gc.collect()
    gc.freeze()
    if os.getpid() != parent:
        end_with(parent, signal.SIGTERM)
    return create_app(settings)
