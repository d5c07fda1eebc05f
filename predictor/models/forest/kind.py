"""The kind of the forests over all create-time columns."""

from __future__ import annotations

from typing import Any, final

from typing_extensions import TypedDict

from birthmark.predictor.models import words
from birthmark.predictor.models.kind import ModelKind


class Reason(TypedDict):
    """A part of the create that moved the score, and by how much.

    `column` is the part's column that moved it most, `value` its value, and `text` a phrase for
    people. The predicate held for `n_true` of the `n` training files with that value; both are null
    if such files were not counted, or too few.
    """

    column: str
    value: Any
    by: float
    text: str
    n_true: int | None
    n: int | None


@final
class ForestEvidence(TypedDict):
    """The `share` of yes in the leaves reached, of `rows` training rows each on average.

    `usual` is the share without any knowledge; `because` has the parts that moved it most. `unseen`
    has a sentence for each part that no training file had together with such a name.
    """

    share: float
    usual: float
    rows: int
    because: list[Reason]
    unseen: list[str]


def in_words(evidence: ForestEvidence) -> str:
    """Return `evidence` as a phrase: ``as 381 of 414 files named *.lock were``.

    It has the reasons that raised the share, or those that lowered it if it is below `usual`.
    """
    more = evidence["share"] >= evidence["usual"]
    reasons = [reason for reason in evidence["because"] if (reason["by"] > 0) == more]
    counted = [reason["text"] for reason in reasons if reason["n"] is not None]
    others = [reason["text"] for reason in reasons if reason["n"] is None]
    phrases = [f"as {words.listed(counted)} were"] if counted else []
    usual = f"{evidence['share']:.0%} of files like it, {evidence['usual']:.0%} of all"
    return "; ".join([*phrases, *others]) or usual


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
