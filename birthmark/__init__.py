"""Birthmark predicts what a file will become at the moment it is created.

What most programs need can be imported from here; each name is loaded when it is first used.
"""

from typing import TYPE_CHECKING

from data.lazy import offered

if TYPE_CHECKING:
    from birthmark._native import __version__
    from data.ingest import ingest
    from data.traces import open_trace
    from features.creates import from_files, from_names, from_requests
    from predictor import AbleTree, NameModel, TrainedModel
    from serving.app import create_app
    from serving.client import AsyncClient, Client, ServiceError
    from training.registry import Registry

_HOMES = {
    "AbleTree": "predictor",
    "AsyncClient": "serving.client",
    "Client": "serving.client",
    "NameModel": "predictor",
    "Registry": "training.registry",
    "ServiceError": "serving.client",
    "TrainedModel": "predictor",
    "__version__": "birthmark._native",
    "create_app": "serving.app",
    "from_files": "features.creates",
    "from_names": "features.creates",
    "from_requests": "features.creates",
    "ingest": "data.ingest",
    "open_trace": "data.traces",
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
