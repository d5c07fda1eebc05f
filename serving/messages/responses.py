"""Responses in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, Union

from pydantic import Field
from typing_extensions import TypedDict

from birthmark.features.history_scope import HistoryScope
from birthmark.predictor import KINDS, Kind, Point

if TYPE_CHECKING:
    Evidence = Mapping[str, Any]
else:
    Evidence = Union[tuple(kind.evidence for kind in KINDS.values())]  # noqa: UP007
"""The evidence of each kind of model."""


class Answer(TypedDict):
    """The prediction of one predicate for a file, and its evidence.

    It is yes if `score`, from 0 to 1 and not a probability, is at least `threshold`; without a
    threshold (null) the model abstains. `upper` is the confidence limit on false positives, as a
    share of all files, for a bounded threshold; else null. `kind` is the kind of the model.
    """

    answer: Literal["yes", "no"]
    kind: Kind
    evidence: Evidence
    score: float
    threshold: float | None
    upper: float | None


class FileName(TypedDict):
    """A file's name, in the member that the request had."""

    name: NotRequired[str]
    name_base64: NotRequired[str]
    name_percent: NotRequired[str]


class ThreeAnswers(TypedDict):
    """The answer and the probability (0 to 1) of every predicate for one file.

    At the bounded operating point, `yes` keeps the bound on false positives and `no` that on false
    negatives; otherwise the answer is `unsure`. Answers do not contradict each other. A probability
    is null if the model was not calibrated. `told` is the history scope: earlier files in the same
    `directory`, of the same user (`caller`), of the same `name`, or `nothing`, also where the model
    uses no histories.
    """

    answers: dict[str, Literal["yes", "no", "unsure"]]
    probabilities: dict[str, float | None]
    told: HistoryScope


class Prediction(FileName, ThreeAnswers):
    """Every predicate's answer for one file.

    In `predicates` each predicate answers for itself: yes, or else no.
    """

    predicates: dict[str, Literal["yes", "no"]]


class Explanation(FileName, ThreeAnswers):
    """Every predicate's answer for one file, with evidence.

    `implied` has each predicate whose yes only follows from other answers, with these. `unseen` has
    a sentence for each attribute that no training file had together with such a name.
    """

    predicates: dict[str, Answer]
    implied: dict[str, list[str]]
    unseen: list[str]


class Live(TypedDict):
    """The freshness of the live history: seconds since its last update, and behind the traffic.

    `why` is the reason, a word, if the history is not used; then the others are null.
    """

    age: float | None
    lag: float | None
    why: str | None


class AnsweredBy(TypedDict):
    """The version, kind and operating point of the model that made these predictions.

    `live` is present if the service has a live history. `warnings` are at most eight, each
    about a probable mistake, such as a decimal mode that was meant in octal.
    """

    model: str
    kind: Kind
    point: Point
    live: NotRequired[Live]
    warnings: NotRequired[list[str]]


class OneResponse(AnsweredBy):
    """The answer to one file."""

    prediction: Prediction


class ListResponse(AnsweredBy):
    """The answer to a list of files, in its order."""

    predictions: list[Prediction]


class OneExplained(AnsweredBy):
    """The answer to one file, with evidence."""

    prediction: Explanation


class ListExplained(AnsweredBy):
    """The answer to a list of files, in its order, with evidence."""

    predictions: list[Explanation]


Verdict = Annotated[int, Field(strict=True, ge=0, le=7)]
"""The hints for one create: the sum of 1 (HotName), 2 (HotDir), 4 (HotWrite).

A directory can only have HotDir, anything else only the others.
"""


class ModelResponse(TypedDict):
    """The current model, with members of its manifest."""

    version: str
    kind: Kind
    point: Point
    created: str
    predicates: list[str]
    trained_on: dict[str, Any]
    figures: list[dict[str, Any]]


class Published(TypedDict):
    """The published version, and the one published before."""

    before: str | None
    current: str


class Status(TypedDict):
    """The response to a probe."""

    status: Literal["ok", "ready"]


class ErrorDetail(TypedDict):
    """An error, with the faulty `field` and its `value`, if there is one."""

    type: str
    message: str
    field: str | None
    value: Any


class ErrorResponse(TypedDict):
    """The body of every error."""

    error: ErrorDetail
