"""The web application: its routes, and the OpenAPI document that describes them."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import offered

if TYPE_CHECKING:
    from birthmark.serving.app.application import create_app as create_app

__getattr__, __all__ = offered(
    __name__,
    {
        "birthmark.serving.app.application": ["create_app"],
    },
)
