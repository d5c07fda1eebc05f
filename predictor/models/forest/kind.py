"""The kind of the forests over all that is known of a create."""

from __future__ import annotations

from typing import Any, final

from typing_extensions import TypedDict

from birthmark.predictor.models import words
from birthmark.predictor.models.kind import ModelKind


class Reason(TypedDict):
    """A column that moved the score, what was in it, and by how much."""

    column: str
    value: Any
    by: float


@final
class ForestEvidence(TypedDict):
    """The `share` of yes in the leaves that were reached, of `rows` training rows each on average.

    It would be `usual` if nothing were known; `because` are the columns that moved it most.
    """

    share: float
    usual: float
    rows: int
    because: list[Reason]


def in_words(evidence: ForestEvidence) -> str:
    """Return `evidence` as a phrase: ``82% of files like it, 25% of all: mode 0644 +20%``."""
    reasons = ", ".join(
        f"{words.attribute(reason['column'], reason['value'])} {reason['by']:+.0%}"
        for reason in evidence["because"]
    )
    share = f"{evidence['share']:.0%} of files like it, {evidence['usual']:.0%} of all"
    return f"{share}: {reasons}" if reasons else share


KIND = ModelKind(
    package=__package__,
    title="Forest",
    models_in="set.ForestModels",
    estimator_in="estimator.ForestModel",
    evidence=ForestEvidence,
    in_words=in_words,
    knows_history=True,
    bound_is_of="creates whose history is sent along",
)
