"""The kind of the lists of rules about names."""

from __future__ import annotations

from typing import final

from typing_extensions import TypedDict

from birthmark.predictor.models import words
from birthmark.predictor.models.kind import ModelKind


class Against(TypedDict):
    """A rule that contradicts: at most the share `upper` of the names with `component` have it."""

    component: str
    n_m: float
    n_a: float
    upper: float


@final
class RuleEvidence(TypedDict):
    """The rule that decided, whose `component` was true of `n_m` of `n_a` files trained on.

    At least the share `lower` of such files are expected to have it. All are null where no rule
    speaks for a yes. Counts are fractions where older files count less.
    """

    component: str | None
    n_m: float | None
    n_a: float | None
    lower: float | None
    against: list[Against]


def in_words(evidence: RuleEvidence) -> str:
    """Return `evidence` as a phrase, such as ``tex$  in 812 of 830 files``."""
    if evidence["component"] is None:
        return "no part of the name says so"
    against = ", ".join(
        words.rule(rule["component"], rule["n_m"], rule["n_a"]) for rule in evidence["against"]
    )
    rule = words.rule(evidence["component"], evidence["n_m"], evidence["n_a"])
    return f"{rule} files; against it {against}" if against else f"{rule} files"


KIND = ModelKind(
    package=__package__,
    title="Rule lists",
    models_in="set.RuleModels",
    estimator_in="estimator.RuleModel",
    evidence=RuleEvidence,
    in_words=in_words,
)
