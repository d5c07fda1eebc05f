"""What is answered over HTTP, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, Union

from pydantic import Field
from typing_extensions import TypedDict

from birthmark.features.told import Told
from birthmark.predictor import KINDS, Kind, Point

if TYPE_CHECKING:
    Evidence = Mapping[str, Any]
else:
    Evidence = Union[tuple(kind.evidence for kind in KINDS.values())]  # noqa: UP007
"""What each kind of model can say for its answer."""


class Answer(TypedDict):
    """Whether a predicate is predicted to hold of a file, and why.

    It is yes where `score`, from 0 to 1 and no probability, is at least `threshold`; a model
    without a threshold (null) abstains. `upper` is the confidence limit of false positives, as a
    share of all files, that admitted a bounded threshold; else null. `kind` is that of the model.
    """

    answer: Literal["yes", "no"]
    kind: Kind
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
    model was not calibrated. `told` is what was known of earlier files: those in this `directory`,
    by this user (`caller`), of this `name`, or `nothing`, where no model that answers knows of
    them, too.
    """

    answers: dict[str, Literal["yes", "no", "unsure"]]
    probabilities: dict[str, float | None]
    told: Told


class Prediction(Named, Said):
    """Every predicate's answer for one file.

    In `predicates`, where each predicate answers for itself, a `no` is what is no yes.
    """

    predicates: dict[str, Literal["yes", "no"]]


class Explanation(Named, Said):
    """Every predicate's answer for one file, and why."""

    predicates: dict[str, Answer]


class Live(TypedDict):
    """How fresh the live history is: seconds since its last update, and behind the traffic.

    `why` is why nothing is told from it, a word; then the others are null.
    """

    age: float | None
    lag: float | None
    why: str | None


class Answered(TypedDict):
    """The version, the kind and the point of the model that every prediction here is from.

    `live` is there where the service has a live history.
    """

    model: str
    kind: Kind
    point: Point
    live: NotRequired[Live]


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
