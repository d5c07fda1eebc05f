"""Clients of the service, for programs that ask at every create: they never wait long nor fail.

This folder imports nothing of the service.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.serving.client.client import AsyncClient, Client, ServiceError
    from birthmark.serving.client.questions import Attributes, Hint, Known, Prediction, Predictions

_HOMES = {
    "AsyncClient": "birthmark.serving.client.client",
    "Attributes": "birthmark.serving.client.questions",
    "Client": "birthmark.serving.client.client",
    "Hint": "birthmark.serving.client.questions",
    "Known": "birthmark.serving.client.questions",
    "Prediction": "birthmark.serving.client.questions",
    "Predictions": "birthmark.serving.client.questions",
    "ServiceError": "birthmark.serving.client.client",
}

__all__ = [
    "AsyncClient",
    "Attributes",
    "Client",
    "Hint",
    "Known",
    "Prediction",
    "Predictions",
    "ServiceError",
]

__getattr__ = offered(__name__, _HOMES)
