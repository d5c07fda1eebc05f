"""The web application: its routes and their OpenAPI document."""

from typing import TYPE_CHECKING

from birthmark.data.common.lazy import lazy_exports

if TYPE_CHECKING:
    from birthmark.serving.app.application import create_app as create_app

__getattr__, __all__ = lazy_exports(
    __name__,
    {
        "birthmark.serving.app.application": ["create_app"],
    },
)
