"""The template environment of all pages."""

from __future__ import annotations

from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined

from birthmark.data.common.visible import visible


def pages(loader: BaseLoader) -> Environment:
    """Return the environment of the templates from `loader`.

    Values are shown as text, never as markup; control characters that hide or reverse text are
    escaped.
    """
    return Environment(
        loader=loader,
        autoescape=True,
        finalize=_shown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: Any) -> Any:
    return visible(value) if type(value) is str else value  # Markup is part of the page
