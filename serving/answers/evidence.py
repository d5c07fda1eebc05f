"""Answers and their evidence as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birthmark.predictor.models.kinds import KINDS
from birthmark.predictor.models.words import listed

STYLES = {"yes": "green", "no": "red", "unsure": "dim"}
"""The style of each answer in a terminal."""


def in_percent(probability: float | None) -> str:
    """Return a probability as ``99.60%``; a dash for None."""
    return "–" if probability is None else f"{probability:.2%}"


def in_words(answer: Mapping[str, Any]) -> str:
    """Return the evidence of an explained answer, in the words of its kind of model."""
    return KINDS[answer["kind"]].in_words(answer["evidence"])


def in_brief(answer: Mapping[str, Any]) -> str:
    """Return the first reason alone, without further ones and without evidence against it."""
    evidence = answer["evidence"]
    shorter: dict[str, Any] = {name: [] for name in ("against",) if name in evidence}
    if because := evidence.get("because"):
        more = evidence["share"] >= evidence["usual"]
        shorter["because"] = [reason for reason in because if (reason["by"] > 0) == more][:1]
    return in_words({**answer, "evidence": evidence | shorter})


def why(predicate: str, prediction: Mapping[str, Any], *, brief: bool = False) -> str:
    """Return the reason for a predicate's answer: the answers that imply it, or its evidence."""
    implied = prediction["implied"].get(predicate)
    if implied is not None:
        return f"follows from {listed(implied) if len(implied) < 3 else 'the other answers'}"
    return (in_brief if brief else in_words)(prediction["predicates"][predicate])
