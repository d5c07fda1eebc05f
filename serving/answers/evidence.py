"""Evidence in words that people read."""

from __future__ import annotations

from typing import Any

from birthmark.serving.messages.responses import (
    Evidence,
    ForestEvidence,
    Reason,
    RuleEvidence,
    Step,
    TreeEvidence,
)

STYLES = {"yes": "green", "no": "red", "unsure": "dim"}
"""How answers look in a terminal."""


def in_percent(probability: float | None) -> str:
    """Return how likely something is, such as ``99.6%``; a dash where that is not known."""
    return "–" if probability is None else f"{probability:.2%}"


def in_words(evidence: Evidence) -> str:
    """Return `evidence` as a phrase, such as ``tex$  in 812 of 830 files``."""
    if "because" in evidence:
        return _leaves(evidence)
    if "path" in evidence:
        return _leaf(evidence)
    if evidence["component"] is None:
        return "no part of the name says so"
    rule = _rule(evidence["component"], evidence["n_m"], evidence["n_a"]) + " files"
    return rule + _against(evidence) if "against" in evidence else rule


def _rule(component: str, n_m: float | None, n_a: float | None) -> str:
    return f"{component}  in {_count(n_m)} of {_count(n_a)}"


def _count(n: float | None) -> str:
    """Return a count of rows, of which older ones may count less than one."""
    return f"{n or 0:,.0f}" if n is None or n == round(n) else f"{n:,.1f}"


def _leaf(evidence: TreeEvidence) -> str:
    steps = [_step(step) for step in evidence["path"]]
    if evidence["default"]:
        steps.append("not seen before")
    where = ", ".join(steps) or "any file"
    return f"{where}  in {evidence['n_true']:,} of {evidence['n']:,} files"


def _leaves(evidence: ForestEvidence) -> str:
    reasons = ", ".join(_reason(reason) for reason in evidence["because"])
    share = f"{evidence['share']:.0%} of files like it, {evidence['usual']:.0%} of all"
    return f"{share}: {reasons}" if reasons else share


def _reason(reason: Reason) -> str:
    return f"{_step({'attribute': reason['column'], 'value': reason['value']})} {reason['by']:+.0%}"


def _step(step: Step) -> str:
    return f"{step['attribute']} {_value(step['attribute'], step['value'])}"


def _value(column: str, value: Any) -> Any:
    if column == "mode" and isinstance(value, int):
        return f"{value:04o}"
    return "none" if value is None else value


def _against(evidence: RuleEvidence) -> str:
    rules = [_rule(rule["component"], rule["n_m"], rule["n_a"]) for rule in evidence["against"]]
    return f"; against it {', '.join(rules)}" if rules else ""
