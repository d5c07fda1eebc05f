"""Models of one kind, one per predicate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bytes
from birthmark.data.common.plurals import counted
from birthmark.features.creates import of_names
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope, history_scopes
from birthmark.predictor.answers.operating_points import EVEN, OperatingPoints, Scores
from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import Section
from birthmark.predictor.models.learned import Learned
from birthmark.predictor.parts import Part
from birthmark.predictor.predicates.predicate import is_about_names

Model = TypeVar("Model", bound=Learned)


RULES = pa.schema(
    [
        pa.field("predicate", pa.utf8(), nullable=False),
        pa.field("rule", pa.utf8(), nullable=False),
        pa.field("yes", pa.bool_(), nullable=False),
        pa.field("decides", pa.float64(), nullable=False),
        pa.field("n_m", pa.float64(), nullable=False),
        pa.field("n_a", pa.float64(), nullable=False),
    ]
)
"""Rules for people: the answer of each, the number of training files that it decides, the ``n_a``
that it applies to, and the ``n_m`` of them for which the predicate holds."""


def most_decisive_first(tables: Iterable[pa.Table]) -> pa.Table:
    """Return tables of ``RULES`` as one, in display order."""
    order = [("decides", "descending"), ("predicate", "ascending"), ("rule", "ascending")]
    return pa.concat_tables([RULES.empty_table(), *tables]).sort_by(order)


def error_reduction(rule: Mapping[str, Any], tally: Mapping[str, int]) -> float:
    """Return by how many errors a row of ``RULES`` improves on the majority answer.

    ``tally`` counts the training labels of the rule's predicate (``predictor.labels.tally``), whose
    majority is the baseline. The result is 0 for a rule with the same answer, and below 0 for one
    that adds errors.
    """
    if rule["yes"] == (2 * tally["true"] > tally["known"]) or not rule["n_a"]:
        return 0.0
    more = 2 * rule["n_m"] / rule["n_a"] - 1
    return float(rule["decides"] * (more if rule["yes"] else -more))


def history_scope_by_predicate(creates: pa.Table, keys: Iterable[str]) -> dict[str, Bytes]:
    """Return by key, for each row, the index of its scope in ``HISTORY_SCOPES``.

    File and name predicates of one create can have different history scopes.
    """
    keys = list(keys)
    scope = {False: history_scopes(creates)}
    if any(map(is_about_names, keys)):
        scope[True] = history_scopes(of_names(creates))
    return {key: scope[is_about_names(key)] for key in keys}


@dataclass(frozen=True)
class Answer:
    """Whether a predicate is predicted to hold, and why.

    ``evidence`` is fit for JSON. The answer is yes where ``score``, from 0 to 1, is at least
    ``threshold`` (``None``: the model abstains). ``upper`` is the upper confidence limit of false
    positives, as a share of all files, that admitted the threshold (``None``: no limit). ``kind``
    is that of the model.
    """

    answer: bool
    evidence: dict[str, Any]
    score: float
    threshold: float | None
    upper: float | None
    kind: str


class ModelSet(dict[str, Model]):
    """Models of one kind by the key of the predicate that each predicts.

    ``points`` are their operating points, by history scope (``features.history_scope``) and key. A
    model without any was not calibrated: its accurate threshold is ``decision``, and bounded it
    abstains.

    Subclasses define the columns that the models see, their evidence and their storage.
    """

    kind: ClassVar[str]
    model: ClassVar[type[Learned]]
    parameters: ClassVar[tuple[str, ...]]
    """The constructor parameters of the kind's models."""
    decision: ClassVar[float] = EVEN
    """The threshold before any calibration."""
    is_baseline: ClassVar[bool] = False
    """Whether ``decision`` is a part of the model's definition, which no calibration changes."""
    scopes: ClassVar[tuple[HistoryScope, ...]] = ("nothing",)
    """The history scopes for which the models have operating points."""
    add_up: ClassVar[bool] = False
    """Whether the models are made of counts (``from_counts``) that add up over slices."""

    def __init__(self, models: Mapping[str, Model] = {}) -> None:
        super().__init__(models)
        self.points: dict[HistoryScope, dict[str, OperatingPoints]] = {}

    def __repr__(self) -> str:
        return f"<{self.kind} models of {counted(len(self), 'predicates')}: {', '.join(self)}>"

    @classmethod
    def own_parameters(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of ``parameters`` that the kind's constructor takes."""
        return {name: parameters[name] for name in cls.parameters}

    def train(
        self, columns: pa.Table, labels: Mapping[str, pa.BooleanArray], **parameters: Any
    ) -> None:
        """Train the model of each key in ``labels`` on the rows whose label is known."""
        for key, answers in labels.items():
            known = answers.is_valid()
            model: Any = self.model(**parameters)
            yes = answers.filter(known).to_numpy(zero_copy_only=False)
            self[key] = model.learn(columns.filter(known), yes)

    @classmethod
    def from_counts(cls, counts: Mapping[str, pa.Table], **parameters: Any) -> Self:
        """Return the models of the counts, by key; only for kinds that ``add_up``."""
        raise NotImplementedError

    def scores(self, creates: pa.Table, keys: Iterable[str] | None = None) -> dict[str, Scores]:
        """Return for each row the scores of the models of ``keys`` (None: all), from 0 to 1.

        ``creates`` has the columns of ``features.CREATES``.
        """
        columns = self.columns(creates)
        keys = self if keys is None else keys
        return {key: self[key].scores(columns) for key in keys}

    def predict(
        self, creates: pa.Table, point: Point, keys: Iterable[str] | None = None
    ) -> dict[str, pa.BooleanArray]:
        """Return for each row the answers of the models of ``keys`` (None: all)."""
        models = self.at(point)
        scores = models.scores(creates, keys)
        scope = history_scope_by_predicate(creates, scores)
        return {
            key: pa.array(column >= models.thresholds(key, point)[scope[key]])
            for key, column in scores.items()
        }

    def at(self, point: Point) -> ModelSet[Any]:
        """Return the models that answer at ``point``: these."""
        return self

    def thresholds(self, key: str, point: Point) -> Scores:
        """Return the thresholds of the model of ``key`` in the order of ``HISTORY_SCOPES``.

        They are infinite where it abstains.
        """
        thresholds = [self.point(key, scope).at(point) for scope in HISTORY_SCOPES]
        return np.array([np.inf if t is None else t for t in thresholds])

    def point(self, key: str, scope: HistoryScope = HISTORY_SCOPES[0]) -> OperatingPoints:
        """Return the operating points of the model of ``key`` at a history scope.

        If the scope has none, they are those of the next narrower one.
        """
        narrower = HISTORY_SCOPES[HISTORY_SCOPES.index(scope) :]
        by_key = (self.points.get(less, {}) for less in narrower)
        return next(
            (points[key] for points in by_key if key in points), OperatingPoints(self.decision)
        )

    def kind_of(self, key: str, scope: HistoryScope) -> str:
        """Return the kind of the model that answers at a history scope."""
        return self.kind

    def by_kind(self) -> Mapping[str, ModelSet[Any]]:
        """Return the sets of the models that answer, by kind."""
        return {self.kind: self}

    def points_for(self, scope: HistoryScope) -> dict[str, OperatingPoints]:
        """Return the operating points of all models at a history scope, by key."""
        return {key: self.point(key, scope) for key in self}

    def least_sum(
        self, key: str, threshold: float | None, scope: HistoryScope = HISTORY_SCOPES[0]
    ) -> int | None:
        """Return the least sum of scores that reaches a threshold of the model of ``key``.

        It is the model that answers at ``scope``. Sums are those of
        ``predictor.image.forest.Group``; ``None`` for kinds whose images count no sums.
        """
        return None

    def condense(self, creates: pa.Table, keys: Iterable[str]) -> None:
        """Drop parts that the operating points of the models of ``keys`` do not need.

        No answer changes for the training rows and for those of ``creates``.
        """

    @staticmethod
    def columns(creates: pa.Table) -> pa.Table:
        """Return the columns of ``creates`` that models of the kind see."""
        raise NotImplementedError

    def explain(self, creates: pa.Table, point: Point) -> list[dict[str, Answer]]:
        """Return for each row every model's answer at ``point``, by key, with its evidence."""
        models, scope = self.at(point), history_scope_by_predicate(creates, self)
        return [
            {
                key: models._answer(key, *pair, point, HISTORY_SCOPES[scope[key][row]])
                for key, pair in by_key.items()
            }
            for row, by_key in enumerate(models.evidence(creates))
        ]

    def _answer(
        self, key: str, score: float, evidence: dict[str, Any], point: Point, scope: HistoryScope
    ) -> Answer:
        points = self.point(key, scope)
        threshold = points.at(point)
        upper = points.upper if point == "bounded" else None
        yes = threshold is not None and score >= threshold
        return Answer(yes, evidence, score, threshold, upper, self.kind_of(key, scope))

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return for each row every model's score, as in ``scores``, and its evidence."""
        raise NotImplementedError

    def rules(self, point: Point) -> pa.Table:
        """Return the rules that decide at ``point``, a table of ``RULES``, most decisive first.

        A predicate that abstains there has none. Raises ``ValueError`` for a kind without rules,
        and for models that were loaded without their counts.
        """
        raise ValueError(
            f"models of kind {self.kind} are not made of rules: see birthmark predict --explain"
        )

    @classmethod
    def sections(cls, models: Mapping[str, Model], cuts: Mapping[str, Scores]) -> list[Section]:
        """Return the sections of an image that score as ``models`` do, by key.

        A score is the number of the model's ``cuts`` (ascending, at most ``MOST_CUTS``) that are
        reached, or a sum as in ``least_sum``. Raises ``ValueError`` for a kind of models that has
        no section.
        """
        raise ValueError(f"no image can be made of models of kind {cls.kind!r}")

    def save(self, directory: Part) -> list[str]:
        """Write the models to files in ``directory``; return the files' names."""
        raise NotImplementedError

    @classmethod
    def load(
        cls, directory: Part, keys: Iterable[str], parameters: Mapping[str, Any], counts: bool
    ) -> Self:
        """Return the models of ``keys`` that were saved in ``directory``.

        Without ``counts`` they cannot learn more. Raises ``predictor.parts.DamagedModelError`` if a
        file is damaged.
        """
        raise NotImplementedError
