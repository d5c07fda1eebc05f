"""Clients of the service, for programs that predict at every create: they neither block nor fail.

This folder imports nothing of the service.
"""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.serving.client.client import AsyncClient as AsyncClient
    from birthmark.serving.client.client import Client as Client
    from birthmark.serving.client.client import ServiceError as ServiceError
    from birthmark.serving.client.questions import Attributes as Attributes
    from birthmark.serving.client.questions import Hint as Hint
    from birthmark.serving.client.questions import Known as Known
    from birthmark.serving.client.questions import Prediction as Prediction
    from birthmark.serving.client.questions import Predictions as Predictions

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.serving.client.client": ["AsyncClient", "Client", "ServiceError"],
        "birthmark.serving.client.questions": [
            "Attributes",
            "Hint",
            "Known",
            "Prediction",
            "Predictions",
        ],
    },
)
