"""One of the processes that answer."""

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

    `parent` is the process that was told to serve: this one, or the one that keeps its workers,
    which end when that has gone, so that another may listen in its place.
    """
    service_log.set_up(settings)
    multiprocess.reserve()
    # Imported here: who keeps workers needs no model in memory, and prometheus_client looks at its
    # variable when it is imported.
    import pyarrow as pa

    from birthmark.serving.app.application import create_app

    with without_pandas():
        pa.array([])
    # Arrow's own pool keeps what each request, and each model before, once needed.
    pa.set_memory_pool(pa.system_memory_pool())
    # What is imported stays: a collection of garbage that looked at all of it would hold up every
    # request for a tenth of a second, and a request for many files brings one on.
    gc.collect()
    gc.freeze()
    if os.getpid() != parent:
        end_with(parent, signal.SIGTERM)
    return create_app(settings)
