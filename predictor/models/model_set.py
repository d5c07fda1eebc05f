"""Models of one kind, one per predicate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bytes
from birthmark.data.common.plurals import counted
from birthmark.features.creates import of_names
from birthmark.features.told import TOLD, Told, told_of
from birthmark.predictor.answers.operating_points import EVEN, OperatingPoints, Scores
from birthmark.predictor.answers.point import Point
from birthmark.predictor.image.format import Section
from birthmark.predictor.models.learned import Learned
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
"""Rules as people read them: the answer of each, the number of files trained on that it decides,
and of the ``n_a`` that it applies to the ``n_m`` for which the predicate holds."""


def most_decisive_first(tables: Iterable[pa.Table]) -> pa.Table:
    """Return tables of ``RULES`` as one, in the order that they are shown in."""
    order = [("decides", "descending"), ("predicate", "ascending"), ("rule", "ascending")]
    return pa.concat_tables([RULES.empty_table(), *tables]).sort_by(order)


def spared(rule: Mapping[str, Any], tally: Mapping[str, int]) -> float:
    """Return how many errors of a guess a row of ``RULES`` spares; below 0: how many it adds.

    The guess is the more frequent answer in what was learned from, which `tally` counts for the
    rule's predicate (``predictor.labels.tally``). A rule that answers the same spares none.
    """
    if rule["yes"] == (2 * tally["true"] > tally["known"]) or not rule["n_a"]:
        return 0.0
    more = 2 * rule["n_m"] / rule["n_a"] - 1
    return float(rule["decides"] * (more if rule["yes"] else -more))


def told_by_key(creates: pa.Table, keys: Iterable[str]) -> dict[str, Bytes]:
    """Return by key, for each row, the place in ``TOLD`` of what is told of it.

    Of a create, more may be told about names than about files, or less.
    """
    keys = list(keys)
    told = {False: told_of(creates)}
    if any(map(is_about_names, keys)):
        told[True] = told_of(of_names(creates))
    return {key: told[is_about_names(key)] for key in keys}


@dataclass(frozen=True)
class Answer:
    """Whether a predicate is predicted to hold, and why.

    ``evidence`` is what JSON can carry. The answer is yes where ``score``, from 0 to 1, is at least
    ``threshold`` (``None``: the model abstains). ``upper`` is the upper confidence limit of false
    positives, as a share of all files, that admitted the threshold; ``None``: no limit was asked.
    ``kind`` is that of the model.
    """

    answer: bool
    evidence: dict[str, Any]
    score: float
    threshold: float | None
    upper: float | None
    kind: str


class ModelSet(dict[str, Model]):
    """Models of one kind by the key of the predicate that each predicts.

    ``points`` are their operating points, by how much is told of a create (``features.told``) and
    by key; a model without is one that was not calibrated: its accurate threshold is ``decision``,
    and bounded it abstains.

    Subclasses say what the kind's models see of a create, how they explain themselves, and how
    they are stored.
    """

    kind: ClassVar[str]
    model: ClassVar[type[Learned]]
    parameters: ClassVar[tuple[str, ...]]
    """The constructor parameters of the kind's models."""
    decision: ClassVar[float] = EVEN
    """The threshold before any calibration."""
    is_baseline: ClassVar[bool] = False
    """Whether ``decision`` is a part of the model's definition, which no calibration changes."""
    told: ClassVar[tuple[Told, ...]] = ("nothing",)
    """What the models may be told, each of which they have operating points for."""
    add_up: ClassVar[bool] = False
    """Whether the models are made of counts (``from_counts``), which of several slices add up."""

    def __init__(self, models: Mapping[str, Model] = {}) -> None:
        super().__init__(models)
        self.points: dict[Told, dict[str, OperatingPoints]] = {}

    def __repr__(self) -> str:
        return f"<{self.kind} models of {counted(len(self), 'predicates')}: {', '.join(self)}>"

    @classmethod
    def own(cls, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return those of ``parameters`` that the kind's models are constructed with."""
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
        """Return the models that are made of what was counted, by key; asked of what adds up."""
        raise NotImplementedError

    def scores(self, creates: pa.Table, keys: Iterable[str] | None = None) -> dict[str, Scores]:
        """Return for each row how sure the models of ``keys`` (None: all) are, from 0 to 1.

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
        told = told_by_key(creates, scores)
        return {
            key: pa.array(own >= models.thresholds(key, point)[told[key]])
            for key, own in scores.items()
        }

    def at(self, point: Point) -> ModelSet[Any]:
        """Return the models that answer at ``point``: these."""
        return self

    def thresholds(self, key: str, point: Point) -> Scores:
        """Return the thresholds of the model of ``key``, by the place in ``TOLD`` of what is told.

        Where it abstains, no score reaches it.
        """
        thresholds = [self.point(key, told).at(point) for told in TOLD]
        return np.array([np.inf if each is None else each for each in thresholds])

    def point(self, key: str, told: Told = TOLD[0]) -> OperatingPoints:
        """Return the operating points of the model of ``key`` where so much is told.

        Without own ones they are those for less.
        """
        own = (self.points.get(less, {}) for less in TOLD[TOLD.index(told) :])
        return next(
            (points[key] for points in own if key in points), OperatingPoints(self.decision)
        )

    def kind_of(self, key: str, told: Told) -> str:
        """Return the kind of the model that answers where so much is told."""
        return self.kind

    def points_for(self, told: Told) -> dict[str, OperatingPoints]:
        """Return the operating points of all models where so much is told, by key."""
        return {key: self.point(key, told) for key in self}

    def least_sum(self, key: str, threshold: float | None, told: Told = TOLD[0]) -> int | None:
        """Return the least sum of scores that reaches a threshold of the model of ``key``.

        That model is the one that answers where so much is told. Sums are those that
        ``predictor.image.forest.Output`` counts. ``None`` for kinds whose images count none.
        """
        return None

    def condense(self, creates: pa.Table, keys: Iterable[str]) -> None:
        """Drop what the operating points of the models of ``keys`` do not need, if anything.

        For training's rows and for those of ``creates`` all answers stay as they are.
        """

    @staticmethod
    def columns(creates: pa.Table) -> pa.Table:
        """Return what models of the kind see of ``creates``."""
        raise NotImplementedError

    def explain(self, creates: pa.Table, point: Point) -> list[dict[str, Answer]]:
        """Return for each row every model's answer at ``point``, by key, with its evidence."""
        models, told = self.at(point), told_by_key(creates, self)
        return [
            {
                key: models._answer(key, *own, point, TOLD[told[key][row]])
                for key, own in found.items()
            }
            for row, found in enumerate(models.evidence(creates))
        ]

    def _answer(
        self, key: str, score: float, evidence: dict[str, Any], point: Point, told: Told
    ) -> Answer:
        points = self.point(key, told)
        threshold = points.at(point)
        upper = points.upper if point == "bounded" else None
        yes = threshold is not None and score >= threshold
        return Answer(yes, evidence, score, threshold, upper, self.kind_of(key, told))

    def evidence(self, creates: pa.Table) -> list[dict[str, tuple[float, dict[str, Any]]]]:
        """Return for each row every model's score, as ``scores`` has it, and its evidence."""
        raise NotImplementedError

    def rules(self, point: Point) -> pa.Table:
        """Return what decides at ``point`` as a table of ``RULES``, most decisive first.

        A predicate that abstains there has none. Raises ``ValueError`` for a kind whose models are
        not made of rules, and for models that were loaded without what they learned from.
        """
        raise ValueError(f"models of kind {self.kind} are not made of rules: see birthmark explain")

    @classmethod
    def sections(
        cls, models: Mapping[str, Model], thresholds: Mapping[str, Scores]
    ) -> list[Section]:
        """Return the sections of an image that answer as ``models`` do at ``thresholds``, by key.

        These are as ``ModelSet.thresholds`` returns them; models that are told nothing have the
        same for all. Raises ``ValueError`` for a kind of models that has no section.
        """
        raise ValueError(f"no image can be made of models of kind {cls.kind!r}")

    def save(self, directory: Path) -> list[str]:
        """Write the models to files in ``directory``; return the files' names."""
        raise NotImplementedError

    @classmethod
    def load(
        cls, directory: Path, keys: Iterable[str], parameters: Mapping[str, Any], counts: bool
    ) -> Self:
        """Return the models of ``keys`` that were saved in ``directory``.

        Without ``counts``, what is needed only to learn on is left out. Raises
        ``predictor.parts.DamagedModelError`` where a file is not as it was saved.
        """
        raise NotImplementedError
