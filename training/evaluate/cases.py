"""What is judged: the scores that a kind of model gives to lives that it was not shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Floats
from birthmark.features.told import told_of
from birthmark.predictor import Predicate, TrainedModel, births
from birthmark.predictor.answers.operating_points import says_yes
from birthmark.predictor.answers.point import POINTS, Point
from birthmark.predictor.heat.directories import directories
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.predicate import Subject
from birthmark.training.statistics.bootstrap import Blocks, blocks_of

Known = Callable[[Subject, pa.Table], pa.Table]
"""Makes the creates (`features.CREATES`) of births about a subject, as `TrainedModel.creates`."""


@dataclass(frozen=True)
class Case:
    """One predicate and one kind of model, on the rows of a test.

    `known` says of which rows of the test the trace tells the answer; `truth`, `scores` and the
    `blocks` of time are of these only. `guess` is the training data's majority answer. A score that
    reaches the threshold of a point is a yes; None is never reached. Only points that have one in
    `thresholds` are judged. `bound` is the share of false positives that `bounded` is to keep.
    `answers` are given where not all rows have the same threshold, as more is told of some than
    of others: then `thresholds` are those of the rows of which most is told.
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

    def said(self, point: Point) -> Bools:
        """Return the answers at a point."""
        if point in self.answers:
            return self.answers[point]
        return says_yes(self.scores, self.thresholds[point])

    @property
    def names(self) -> dict[str, str]:
        """The columns that name the case in every table."""
        return {"subject": self.subject, "predicate": self.predicate, "model": self.model}


def majority(tally: Mapping[str, int]) -> bool:
    """Return the answer that is more frequent in the training data: the best guess without a model.

    YES where half of the known answers or more are (Table 6.5); NO where none is known. `tally`
    is a `predictor.tally` of the training data.
    """
    return tally["known"] > 0 and 2 * tally["true"] >= tally["known"]


@dataclass(frozen=True)
class Labelled:
    """The births of a test, what was known of each at its creation, and what became of it.

    `answers` are those of the predicates, by key, as far as the trace tells.
    """

    lives: pa.Table
    creates: pa.Table
    predicates: Mapping[str, Predicate]
    answers: Mapping[str, tuple[Bools, Bools, Blocks]]

    @classmethod
    def of(
        cls, births: pa.Table, creates: pa.Table, predicates: Mapping[str, Predicate]
    ) -> Labelled:
        """Return births, whose `creates` are in the same order, with what became of them."""
        times = pc.fill_null(births["born"].cast(pa.int64()), 0).to_numpy()
        answers = {}
        for key, predicate in predicates.items():
            truth = predicate.evaluate(births)
            told = truth.is_valid().to_numpy(zero_copy_only=False)
            true = truth.drop_null().to_numpy(zero_copy_only=False).astype(bool)
            answers[key] = told, true, blocks_of(times[told])
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
        """Return the case of predicate `key` and a model's `scores` and `answers` of all rows."""
        told, truth, blocks = self.answers[key]
        predicate = self.predicates[key]
        return Case(
            predicate.subject,
            predicate.name,
            kind,
            told,
            truth,
            np.asarray(scores[told], dtype=np.float64),
            blocks,
            guess,
            thresholds,
            bound,
            {point: own[told] for point, own in answers.items()},
        )


def labelled(
    predicates: Mapping[str, Predicate], files: pa.Table, names: pa.Table, known: Known
) -> dict[str, Labelled]:
    """Return by subject the births that `predicates` are tested on; directories as they are seen.

    `files` and `names` are tables of `data.schema`; `known` makes the creates of births.
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
            told = told_of(own.creates)
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
                        {p: scores[key] >= m.thresholds(key, p)[told] for p, m in at.items()},
                    )


def _scored(
    models: ModelSet[Any], creates: pa.Table
) -> Iterator[tuple[dict[Point, ModelSet[Any]], dict[str, Floats]]]:
    """Yield the models that answer at the same points, and their scores."""
    answering: dict[int, dict[Point, ModelSet[Any]]] = {}
    for point in POINTS:
        answering.setdefault(id(models.at(point)), {})[point] = models.at(point)
    for at in answering.values():
        yield at, next(iter(at.values())).scores(creates)


def expect_births(dataset: Path, files: pa.Table) -> None:
    """Raise ValueError where none of a dataset's `files` can be tested on: no creation is seen."""
    if not len(births(files)):
        raise ValueError(
            f"{dataset}: expected files whose creation is seen, found none among {len(files):,}"
        )
