"""Excerpts of requests in errors: at most the beginning of a text or value."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import from_json, to_json

TEXT = 200
"""The longest excerpt of a text, or of a value as JSON, in characters."""


def text(whole: str, most: int = TEXT) -> str:
    """Return a text, shortened if it is long."""
    return whole if len(whole) <= most else f"{whole[:most]}…"


def written(value: Any) -> str:
    """Return a value as JSON, shortened if it is long."""
    return text(to_json(value, inf_nan_mode="constants").decode())


def read(excerpt: str | None) -> Any:
    """Return the value of an excerpt, or the excerpt itself if it was shortened."""
    try:
        value = None if excerpt is None else from_json(excerpt)
        json.dumps(value, allow_nan=False)
    except ValueError:  # shortened, half a surrogate pair, or a number beyond all
        return excerpt
    return value
