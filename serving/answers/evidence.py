"""How answers are shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birthmark.predictor.models.kinds import KINDS

STYLES = {"yes": "green", "no": "red", "unsure": "dim"}
"""How answers look in a terminal."""

_BESIDES = ("against", "because")
"""The members of evidence that tell more than what decided."""


def in_percent(probability: float | None) -> str:
    """Return how likely something is, such as ``99.6%``; a dash where that is not known."""
    return "–" if probability is None else f"{probability:.2%}"


def in_words(answer: Mapping[str, Any]) -> str:
    """Return the evidence of an answer that is explained, as the kind that gave it puts it."""
    return KINDS[answer["kind"]].in_words(answer["evidence"])


def in_brief(answer: Mapping[str, Any]) -> str:
    """Return as `in_words` what decided, without what spoke against it or for it as well."""
    told = {name: each for name, each in answer["evidence"].items() if name not in _BESIDES}
    return in_words({**answer, "evidence": told | dict.fromkeys(_BESIDES, ())})
