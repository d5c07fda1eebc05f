"""The web application: its routes, and the OpenAPI document that describes them."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.serving.app.application import create_app

_HOMES = {
    "create_app": "birthmark.serving.app.application",
}

__all__ = [
    "create_app",
]

__getattr__ = offered(__name__, _HOMES)
