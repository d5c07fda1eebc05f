"""Evidence in words that people read."""

from __future__ import annotations

from serving.responses import NameEvidence, Step, TreeEvidence


def in_words(evidence: NameEvidence | TreeEvidence) -> str:
    """Return `evidence` as a phrase, such as ``tex$  in 812 of 830 files``."""
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


def _step(step: Step) -> str:
    value = step["value"]
    if step["attribute"] == "mode" and isinstance(value, int):
        value = f"{value:04o}"
    return f"{step['attribute']} {'none' if value is None else value}"
