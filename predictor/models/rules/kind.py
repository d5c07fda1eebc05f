"""The kind of the lists of rules about names."""

from __future__ import annotations

from typing import final

from typing_extensions import TypedDict

from birthmark.predictor.models import words
from birthmark.predictor.models.kind import ModelKind


class Against(TypedDict):
    """A contradicting rule: at most the share `upper` of names with `component` is a yes."""

    component: str
    n_m: float
    n_a: float
    upper: float


@final
class RuleEvidence(TypedDict):
    """The rule that decided: the predicate held for `n_m` of `n_a` training files with `component`.

    At least the share `lower` of such files is expected to be a yes. All are null if no rule
    predicts yes. Counts are fractions if older files count less.
    """

    component: str | None
    n_m: float | None
    n_a: float | None
    lower: float | None
    against: list[Against]


def in_words(evidence: RuleEvidence) -> str:
    """Return `evidence` as a phrase, such as ``as 812 of 830 files named *.tex were``."""
    if evidence["component"] is None:
        return "no part of the name says so"
    against = [
        words.counted(words.files(rule["component"]), rule["n_m"], rule["n_a"])
        for rule in evidence["against"]
        if rule["n_a"] >= words.LEAST_FILES
    ]
    where = words.files(evidence["component"])
    rule = words.as_were(where, evidence["n_m"], evidence["n_a"])
    return f"{rule}; against it, {words.listed(against)} were" if against else rule


KIND = ModelKind(
    package=__package__,
    title="Rule lists",
    models_in="set.RuleModels",
    estimator_in="estimator.RuleModel",
    evidence=RuleEvidence,
    in_words=in_words,
)
