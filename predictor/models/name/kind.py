"""The kind of the name-based model (thesis section 6.3.2)."""

from __future__ import annotations

from typing import final

from typing_extensions import TypedDict

from birthmark.predictor.models import words
from birthmark.predictor.models.kind import ModelKind


@final
class NameEvidence(TypedDict):
    """The name component that decided, true for `n_m` of the `n_a` training files that had it.

    All are null if no component of the name predicts yes.
    """

    component: str | None
    n_m: int | None
    n_a: int | None


def in_words(evidence: NameEvidence) -> str:
    """Return `evidence` as a phrase, such as ``as 812 of 830 files named *.tex were``."""
    if evidence["component"] is None:
        return "no part of the name says so"
    return words.as_were(words.files(evidence["component"]), evidence["n_m"], evidence["n_a"])


KIND = ModelKind(
    package=__package__,
    title="Name model",
    models_in="set.NameModels",
    estimator_in="estimator.NameModel",
    evidence=NameEvidence,
    in_words=in_words,
)
