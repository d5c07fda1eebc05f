from __future__ import annotations

from typing import final

from typing_extensions import TypedDict

from birthmark.predictor.models.kind import ModelKind


@final
class ToyEvidence(TypedDict):
    """The share of yes in training."""

    share_of_all: float


def in_words(evidence: ToyEvidence) -> str:
    return f"{evidence['share_of_all']:.0%} of all files"


KIND = ModelKind(
    package=__package__,
    title="Toy model",
    models_in="set.ToyModels",
    estimator_in="estimator.ToyModel",
    evidence=ToyEvidence,
    in_words=in_words,
)
