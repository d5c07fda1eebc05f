"""What is answered over HTTP, as JSON."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, final

from pydantic import Field
from typing_extensions import TypedDict

from birthmark.predictor import Kind, Point


@final
class NameEvidence(TypedDict):
    """The name component that decided, true for `n_m` of the `n_a` files trained on that had it.

    All are null where the name has no component that predicts yes.
    """

    component: str | None
    n_m: int | None
    n_a: int | None


class Step(TypedDict):
    """One step on the path from a decision tree's root to its leaf."""

    attribute: str
    value: Any


@final
class TreeEvidence(TypedDict):
    """The leaf that decided, true for `n_true` of the `n` files trained on that reached it.

    `default`: the path ends in a node for values that were not seen in training.
    """

    path: list[Step]
    default: bool
    n_true: int
    n: int


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


Evidence = NameEvidence | TreeEvidence | RuleEvidence | ForestEvidence
"""What each kind of model can say for its answer."""


class Answer(TypedDict):
    """Whether a predicate is predicted to hold of a file, and why.

    It is yes where `score`, from 0 to 1 and no probability, is at least `threshold`; a model
    without a threshold (null) abstains. `upper` is the confidence limit of false positives, as a
    share of all files, that admitted a bounded threshold; else null.
    """

    answer: Literal["yes", "no"]
    evidence: Evidence
    score: float
    threshold: float | None
    upper: float | None


class Named(TypedDict):
    """A file, under its name as it was sent."""

    name: NotRequired[str]
    name_base64: NotRequired[str]
    name_percent: NotRequired[str]


class Said(TypedDict):
    """What is said of every predicate of one file, and how likely it holds, from 0 to 1.

    A `yes` keeps the bound on false positives at the bounded point, a `no` that on false negatives;
    `unsure` is what is neither. They do not contradict each other. A probability is null where the
    model was not calibrated.
    """

    answers: dict[str, Literal["yes", "no", "unsure"]]
    probabilities: dict[str, float | None]


class Prediction(Named, Said):
    """Every predicate's answer for one file.

    In `predicates`, where each predicate answers for itself, a `no` is what is no yes.
    """

    predicates: dict[str, Literal["yes", "no"]]


class Explanation(Named, Said):
    """Every predicate's answer for one file, and why."""

    predicates: dict[str, Answer]


class Answered(TypedDict):
    """The version, the kind and the point of the model that every prediction here is from."""

    model: str
    kind: Kind
    point: Point


class OneResponse(Answered):
    """The answer to one file."""

    prediction: Prediction


class ListResponse(Answered):
    """The answer to a list of files, in its order."""

    predictions: list[Prediction]


class OneExplained(Answered):
    """The answer to one file, and why."""

    prediction: Explanation


class ListExplained(Answered):
    """The answer to a list of files, in its order, and why."""

    predictions: list[Explanation]


Verdict = Annotated[int, Field(strict=True, ge=0, le=7)]
"""What a file system is hinted of one create: the sum of 1 (HotName), 2 (HotDir), 4 (HotWrite).

Of a directory only HotDir can be there, of anything else only the others.
"""


class ModelResponse(TypedDict):
    """The model that answers, and what its manifest says of it."""

    version: str
    kind: Kind
    point: Point
    created: str
    predicates: list[str]
    trained_on: dict[str, Any]
    figures: list[dict[str, Any]]


class Published(TypedDict):
    """The version that answers from now on, and the one that did before."""

    before: str | None
    current: str


class Status(TypedDict):
    """What a probe is told."""

    status: Literal["ok", "ready"]


class ErrorDetail(TypedDict):
    """What went wrong: the `value` of the `field` that is at fault, where there is one."""

    type: str
    message: str
    field: str | None
    value: Any


class ErrorResponse(TypedDict):
    """Every error's body."""

    error: ErrorDetail
