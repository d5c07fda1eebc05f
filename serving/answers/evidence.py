"""How answers are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birthmark.predictor.models.kinds import KINDS

STYLES = {"yes": "green", "no": "red", "unsure": "dim"}
"""How answers look in a terminal."""


def in_percent(probability: float | None) -> str:
    """Return how likely something is, such as ``99.6%``; a dash where that is not known."""
    return "–" if probability is None else f"{probability:.2%}"


def in_words(answer: Mapping[str, Any]) -> str:
    """Return the evidence of an answer that is explained, as the kind that gave it puts it."""
    return KINDS[answer["kind"]].in_words(answer["evidence"])
