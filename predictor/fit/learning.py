"""Training sets of models on lives, and choosing their thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.thresholds import Bools, Limit, Limits, Scores
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.worlds import Worlds

Sets = Mapping[str, ModelSet[Any]]
"""Sets of models by their kind."""


@dataclass(frozen=True)
class Lesson:
    """Births to learn from, and their labels; some are held out to choose thresholds on.

    ``creates`` and ``labels`` have the same rows. ``parameters`` are those of
    ``predictor.TrainedModel``: of them each kind of models takes its own.
    """

    creates: pa.Table
    labels: Mapping[str, pa.BooleanArray]
    holdout: Holdout
    parameters: Mapping[str, Any]

    def train(self, models: ModelSet[Any], mask: Bools) -> ModelSet[Any]:
        """Let ``models`` learn from the births of a mask; return them."""
        some = pa.array(mask)
        seen = {key: answers.filter(some) for key, answers in self.labels.items()}
        known = models.columns(self.creates.filter(some))
        models.train(known, seen, **models.own(self.parameters))
        return models

    def scores(self, models: ModelSet[Any], fold: int) -> dict[str, Scores]:
        """Return how ``models`` score the births of a fold."""
        own = pa.array(self.holdout.fold == fold)
        return models.scores(self.creates.filter(own), self.labels)

    def asked(self, models: ModelSet[Any], fold: int) -> dict[str, Scores]:
        """Return how a fold is scored: by ``models``, or by others if these learned from it."""
        if self.holdout.crossed:
            models = self.train(type(models)(), self.holdout.fold != fold)
        return self.scores(models, fold)

    def finish(
        self,
        models: ModelSet[Any],
        found: Iterable[Mapping[str, Scores]],
        worlds: Sequence[Worlds] | None,
    ) -> None:
        """Give trained models their operating points, by the scores of each fold."""
        bounds = (self.parameters["bound"], self.parameters["false_negative_bound"])
        limits = Limits(*(Limit(bound, self.parameters["confidence"]) for bound in bounds))
        self.holdout.choose(models, list(found), self.labels, limits, worlds)
        models.condense(self.creates, self.labels)


class Learner(Protocol):
    """Lets sets of models learn."""

    def learn(
        self,
        sets: Sets,
        lives: pa.Table,
        creates: pa.Table,
        labels: Mapping[str, pa.BooleanArray],
        parameters: Mapping[str, Any],
        worlds: Sequence[Worlds] | None = None,
    ) -> Bools:
        """Train every one of ``sets`` on ``labels``, and return which rows they learn from.

        ``lives``, ``creates`` and ``labels`` have the same rows; ``worlds`` are those of the
        predicates; without (None) nothing but a yes is asked for.
        """

    def finish(self) -> None:
        """Return when all have learned."""


class LocalLearner:
    """Lets models learn at once, in this process."""

    def learn(
        self,
        sets: Sets,
        lives: pa.Table,
        creates: pa.Table,
        labels: Mapping[str, pa.BooleanArray],
        parameters: Mapping[str, Any],
        worlds: Sequence[Worlds] | None = None,
    ) -> Bools:
        """See `Learner`."""
        from joblib import Parallel, delayed  # slow to import, and needed only to learn

        lesson = Lesson(creates, labels, Holdout.of(lives, parameters["calibration"]), parameters)
        for models in sets.values():
            lesson.train(models, lesson.holdout.learned)
            folds = (delayed(lesson.asked)(models, fold) for fold in lesson.holdout.folds)
            lesson.finish(models, Parallel(n_jobs=-1, prefer="threads")(folds), worlds)
        return lesson.holdout.learned

    def finish(self) -> None:
        """Do nothing: all is done."""
