"""Evidence in words that people read."""

from __future__ import annotations

from serving.responses import ForestEvidence, NameEvidence, Reason, Step, TreeEvidence


def in_words(evidence: NameEvidence | TreeEvidence | ForestEvidence) -> str:
    """Return `evidence` as a phrase, such as ``tex$  in 812 of 830 files``."""
    if "because" in evidence:
        return _leaves(evidence)
    if "path" in evidence:
        return _leaf(evidence)
    if evidence["component"] is None:
        return "no part of the name says so"
    return f"{evidence['component']}  in {evidence['n_m']:,} of {evidence['n_a']:,} files"


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
    value = step["value"]
    if step["attribute"] == "mode" and isinstance(value, int):
        value = f"{value:04o}"
    return f"{step['attribute']} {'none' if value is None else value}"
