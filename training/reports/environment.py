"""What all pages have in common."""

from __future__ import annotations

from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined

from birthmark.data.common.visible import visible


def pages(loader: BaseLoader) -> Environment:
    """Return the environment of the templates that `loader` finds.

    What they show is text: never markup, and what would hide or turn other text is escaped.
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
    return visible(value) if type(value) is str else value  # a Markup is a part of the page
