"""Cases of a test: the scores of one kind of model on unseen lives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Floats
from birthmark.features.history_scope import history_scopes
from birthmark.predictor import Predicate, TrainedModel, births
from birthmark.predictor.answers.operating_points import says_yes
from birthmark.predictor.answers.point import POINTS, Point
from birthmark.predictor.heat.directories import directories
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.predicate import Subject
from birthmark.training.statistics.bootstrap import Blocks, blocks_of

Known = Callable[[Subject, pa.Table], pa.Table]
"""Returns the creates (`features.CREATES`) of births, like `TrainedModel.creates`."""


@dataclass(frozen=True)
class Case:
    """One predicate and one kind of model, on the rows of a test.

    `known` selects the rows of the test with a known outcome; `truth`, `scores` and the `blocks` of
    time are of these only. `guess` is the training data's majority answer. A score at or above the
    threshold of an operating point is a yes; None is never reached. Only points in `thresholds` are
    tested. `bound` is the limit on the share of false positives for `bounded`. `answers` are given
    if the threshold depends on the row's history scope: then `thresholds` are those of the widest
    scope.
    """

    subject: str
    predicate: str
    model: str
    known: Bools
    truth: Bools
    scores: Floats
    blocks: Blocks
    guess: bool
    thresholds: Mapping[Point, float | None]
    bound: float
    answers: Mapping[Point, Bools] = field(default_factory=dict)

    def answers_at(self, point: Point) -> Bools:
        """Return the answers at an operating point."""
        if point in self.answers:
            return self.answers[point]
        return says_yes(self.scores, self.thresholds[point])

    @property
    def names(self) -> dict[str, str]:
        """The columns that name the case in every table."""
        return {"subject": self.subject, "predicate": self.predicate, "model": self.model}


def majority(tally: Mapping[str, int]) -> bool:
    """Return the majority answer of the training data: the best constant prediction.

    YES if at least half of the known answers are (Table 6.5); NO without known answers. `tally` is
    a `predictor.tally` of the training data.
    """
    return tally["known"] > 0 and 2 * tally["true"] >= tally["known"]


@dataclass(frozen=True)
class Labelled:
    """The births of a test, their creates, and their outcomes.

    `answers` are the predicates' known answers, by key.
    """

    lives: pa.Table
    creates: pa.Table
    predicates: Mapping[str, Predicate]
    answers: Mapping[str, tuple[Bools, Bools, Blocks]]

    @classmethod
    def of(
        cls, births: pa.Table, creates: pa.Table, predicates: Mapping[str, Predicate]
    ) -> Labelled:
        """Return births with their outcomes; `creates` are in the same order."""
        times = pc.fill_null(births["born"].cast(pa.int64()), 0).to_numpy()
        answers = {}
        for key, predicate in predicates.items():
            truth = predicate.evaluate(births)
            known = truth.is_valid().to_numpy(zero_copy_only=False)
            true = truth.drop_null().to_numpy(zero_copy_only=False).astype(bool)
            answers[key] = known, true, blocks_of(times[known])
        return cls(births, creates, predicates, answers)

    def case(
        self,
        key: str,
        kind: str,
        scores: Floats,
        guess: bool,
        thresholds: Mapping[Point, float | None],
        bound: float,
        answers: Mapping[Point, Bools] = {},
    ) -> Case:
        """Return the case of predicate `key`, with a model's `scores` and `answers`."""
        known, truth, blocks = self.answers[key]
        predicate = self.predicates[key]
        return Case(
            predicate.subject,
            predicate.name,
            kind,
            known,
            truth,
            np.asarray(scores[known], dtype=np.float64),
            blocks,
            guess,
            thresholds,
            bound,
            {point: own[known] for point, own in answers.items()},
        )


def labelled(
    predicates: Mapping[str, Predicate], files: pa.Table, names: pa.Table, known: Known
) -> dict[str, Labelled]:
    """Return the births to test `predicates` on by subject, and directories as seen.

    `files` and `names` are tables of `data.schema`; `known` returns the creates of births.
    """
    test = {}
    sources: dict[Subject, Callable[[], pa.Table]] = {
        "file": lambda: births(files),
        "name": lambda: births(names),
        "directory": lambda: directories(files),
    }
    for subject, source in sources.items():
        own = {key: p for key, p in predicates.items() if p.subject == subject}
        if own:
            born = source()
            test[str(subject)] = Labelled.of(born, known(subject, born), own)
    return test


def cases(model: TrainedModel, test: Mapping[str, Labelled]) -> Iterator[Case]:
    """Yield every predicate's case, kind by kind."""
    for kind, models in model.models.items():
        for own in test.values():
            scopes = history_scopes(own.creates)
            for at, scores in _scored(models, own.creates):
                for key in own.predicates:
                    points = {point: each.point(key) for point, each in at.items()}
                    yield own.case(
                        key,
                        kind,
                        scores[key],
                        majority(model.tallies[key]),
                        {point: each.at(point) for point, each in points.items()},
                        model.limits.yes.bound,
                        {p: scores[key] >= m.thresholds(key, p)[scopes] for p, m in at.items()},
                    )


def _scored(
    models: ModelSet[Any], creates: pa.Table
) -> Iterator[tuple[dict[Point, ModelSet[Any]], dict[str, Floats]]]:
    """Yield the models with the same operating points, and their scores."""
    answering: dict[int, dict[Point, ModelSet[Any]]] = {}
    for point in POINTS:
        answering.setdefault(id(models.at(point)), {})[point] = models.at(point)
    for at in answering.values():
        yield at, next(iter(at.values())).scores(creates)


def expect_births(dataset: Path, files: pa.Table) -> None:
    """Raise ValueError if none of a dataset's `files` has a visible creation."""
    if not len(births(files)):
        raise ValueError(
            f"{dataset}: expected files with a visible creation, found none among {len(files):,}"
        )
