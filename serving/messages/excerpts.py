"""What errors repeat of requests: never more than the beginning."""

from __future__ import annotations

from typing import Any

from pydantic_core import from_json, to_json

TEXT = 200
"""The longest text of a request that is repeated, and the longest value as JSON, in characters."""


def text(whole: str, most: int = TEXT) -> str:
    """Return a text, or its beginning where it is long."""
    return whole if len(whole) <= most else f"{whole[:most]}…"


def written(value: Any) -> str:
    """Return a value as JSON, or the beginning of that where it is long."""
    return text(to_json(value, inf_nan_mode="constants").decode())


def read(found: str | None) -> Any:
    """Return the value that is written as JSON; or the text itself, if it is only the beginning."""
    try:
        return None if found is None else from_json(found)
    except ValueError:  # its beginning, or half a surrogate pair, which is in no text
        return found
