"""How answers are shown."""

from __future__ import annotations

STYLES = {"yes": "green", "no": "red", "unsure": "dim"}
"""How answers look in a terminal."""


def in_percent(probability: float | None) -> str:
    """Return how likely something is, such as ``99.6%``; a dash where that is not known."""
    return "–" if probability is None else f"{probability:.2%}"
