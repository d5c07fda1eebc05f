"""What errors repeat of requests: never more than the beginning."""

from __future__ import annotations

from typing import Any

from pydantic_core import to_json

TEXT = 200
"""The longest text of a request that is repeated, and the longest value as JSON, in characters."""


def text(whole: str, most: int = TEXT) -> str:
    """Return a text, or its beginning where it is long."""
    return whole if len(whole) <= most else f"{whole[:most]}…"


def value(whole: Any) -> Any:
    """Return a value, or the beginning of its JSON where that is long."""
    written = to_json(whole, inf_nan_mode="strings").decode()
    return whole if len(written) <= TEXT else text(written)
