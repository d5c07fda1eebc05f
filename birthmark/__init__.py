"""Birthmark predicts what a file will become at the moment it is created.

What most programs need can be imported from here; each name is loaded when it is first used.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.data.ingest.run import ingest
    from birthmark.data.traces.reader import open_trace
    from birthmark.features.creates import from_files, from_names, from_requests
    from birthmark.predictor import AbleTree, NameModel, TrainedModel
    from birthmark.serving.app.application import create_app
    from birthmark.serving.client.client import AsyncClient, Client, ServiceError
    from birthmark.training.registry.versions import Registry
    from birthmark_native import __version__

_HOMES = {
    "AbleTree": "birthmark.predictor",
    "AsyncClient": "birthmark.serving.client.client",
    "Client": "birthmark.serving.client.client",
    "NameModel": "birthmark.predictor",
    "Registry": "birthmark.training.registry.versions",
    "ServiceError": "birthmark.serving.client.client",
    "TrainedModel": "birthmark.predictor",
    "__version__": "birthmark_native",
    "create_app": "birthmark.serving.app.application",
    "from_files": "birthmark.features.creates",
    "from_names": "birthmark.features.creates",
    "from_requests": "birthmark.features.creates",
    "ingest": "birthmark.data.ingest.run",
    "open_trace": "birthmark.data.traces.reader",
}

__all__ = [
    "AbleTree",
    "AsyncClient",
    "Client",
    "NameModel",
    "Registry",
    "ServiceError",
    "TrainedModel",
    "__version__",
    "create_app",
    "from_files",
    "from_names",
    "from_requests",
    "ingest",
    "open_trace",
]

__getattr__ = offered(__name__, _HOMES)
