"""The kind of the attribute-based decision tree (thesis section 6.4)."""

from __future__ import annotations

from typing import Any, final

from typing_extensions import TypedDict

from birthmark.predictor.models import words
from birthmark.predictor.models.kind import ModelKind


class Step(TypedDict):
    """One step on the path from a decision tree's root to its leaf."""

    attribute: str
    value: Any


@final
class TreeEvidence(TypedDict):
    """The leaf that decided, true for `n_true` of the `n` training files that reached it.

    `default`: the path ends in a node for values that were not seen in training.
    """

    path: list[Step]
    default: bool
    n_true: int
    n: int


def in_words(evidence: TreeEvidence) -> str:
    """Return `evidence` as a phrase: ``as 812 of 830 files with last piece tex were``."""
    phrase = words.as_were(words.with_path(evidence["path"]), evidence["n_true"], evidence["n"])
    return f"{phrase}; no such file had the rest of it" if evidence["default"] else phrase


KIND = ModelKind(
    package=__package__,
    title="ABLE tree",
    models_in="set.AbleModels",
    estimator_in="estimator.AbleTree",
    evidence=TreeEvidence,
    in_words=in_words,
)
