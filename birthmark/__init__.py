"""Birthmark predicts what a file will become at the moment it is created.

What most programs need can be imported from here; each name is loaded when it is first used.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.data.datasets.tables import read_files as read_files
    from birthmark.data.datasets.tables import read_names as read_names
    from birthmark.data.datasets.tables import read_table as read_table
    from birthmark.data.datasets.text import as_text as as_text
    from birthmark.data.follow.run import follow as follow
    from birthmark.data.ingest.run import ingest as ingest
    from birthmark.data.scan.count import scan as scan
    from birthmark.data.traces.reader import open_trace as open_trace
    from birthmark.features.creates import from_files as from_files
    from birthmark.features.creates import from_names as from_names
    from birthmark.features.creates import from_requests as from_requests
    from birthmark.predictor import AbleTree as AbleTree
    from birthmark.predictor import CreateEncoder as CreateEncoder
    from birthmark.predictor import ForestModel as ForestModel
    from birthmark.predictor import NameModel as NameModel
    from birthmark.predictor import RuleModel as RuleModel
    from birthmark.predictor import TimeBlocks as TimeBlocks
    from birthmark.predictor import TrainedModel as TrainedModel
    from birthmark.predictor import births as births
    from birthmark.predictor import own_predicate as own_predicate
    from birthmark.serving.app.application import create_app as create_app
    from birthmark.serving.client.client import AsyncClient as AsyncClient
    from birthmark.serving.client.client import Client as Client
    from birthmark.serving.client.client import ServiceError as ServiceError
    from birthmark.training.evaluate.evaluation import evaluate as evaluate
    from birthmark.training.learn.train import read_lives as read_lives
    from birthmark.training.learn.train import train as train
    from birthmark.training.registry.versions import Registry as Registry
    from birthmark_native import __version__ as __version__

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.data.datasets.tables": ["read_files", "read_names", "read_table"],
        "birthmark.data.datasets.text": ["as_text"],
        "birthmark.data.follow.run": ["follow"],
        "birthmark.data.ingest.run": ["ingest"],
        "birthmark.data.scan.count": ["scan"],
        "birthmark.data.traces.reader": ["open_trace"],
        "birthmark.features.creates": ["from_files", "from_names", "from_requests"],
        "birthmark.predictor": [
            "AbleTree",
            "CreateEncoder",
            "ForestModel",
            "NameModel",
            "RuleModel",
            "TimeBlocks",
            "TrainedModel",
            "births",
            "own_predicate",
        ],
        "birthmark.serving.app.application": ["create_app"],
        "birthmark.serving.client.client": ["AsyncClient", "Client", "ServiceError"],
        "birthmark.training.evaluate.evaluation": ["evaluate"],
        "birthmark.training.learn.train": ["read_lives", "train"],
        "birthmark.training.registry.versions": ["Registry"],
        "birthmark_native": ["__version__"],
    },
)
