"""Training sets of models on lives, and choosing their thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from birthmark.data.common.arrays import Bools
from birthmark.features.told import Told, forgotten
from birthmark.predictor.answers.operating_points import OperatingPoints
from birthmark.predictor.answers.point import POINTS
from birthmark.predictor.fit.best_kind import ByTold, Trial
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.thresholds import Limits
from birthmark.predictor.models.best import BestModels, Choice
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.worlds import Worlds

Sets = Mapping[str, ModelSet[Any]]
"""Sets of models by their kind."""


@dataclass(frozen=True)
class Lesson:
    """Births to learn from, and their labels; some are held out to choose thresholds on.

    ``creates`` and ``labels`` have the same rows. ``parameters`` are those of
    ``predictor.TrainedModel``: of them each kind of models takes its own. ``worlds`` are those of
    the predicates; without (None) nothing but a yes is asked for.
    """

    creates: pa.Table
    labels: Mapping[str, pa.BooleanArray]
    holdout: Holdout
    parameters: Mapping[str, Any]
    worlds: Sequence[Worlds] | None = None

    def train(self, models: ModelSet[Any], mask: Bools) -> ModelSet[Any]:
        """Let ``models`` learn from the births of a mask; return them."""
        some = pa.array(mask)
        seen = {key: answers.filter(some) for key, answers in self.labels.items()}
        known = models.columns(self.creates.filter(some))
        models.train(known, seen, **models.own(self.parameters))
        return models

    def told(self, models: type[ModelSet[Any]] | ModelSet[Any]) -> tuple[Told, ...]:
        """Return what may be told of the births to ``models``: they are scored with each."""
        history = self.creates["history"]
        return models.told if history.null_count < len(history) else models.told[-1:]

    def scores(self, models: ModelSet[Any], fold: int) -> ByTold:
        """Return how ``models`` score the births of a fold, by what is told of them."""
        creates = self.creates.filter(pa.array(self.holdout.fold == fold))
        every = self.told(models)
        if len(every) == 1:
            return {every[0]: models.scores(creates, self.labels)}
        return {told: models.scores(forgotten(creates, told), self.labels) for told in every}

    def asked(self, models: ModelSet[Any], fold: int) -> ByTold:
        """Return how a fold is scored: by ``models``, or by others if these learned from it."""
        if self.holdout.crossed:
            models = self.train(type(models)(), self.holdout.fold != fold)
        return self.scores(models, fold)

    def finish(self, models: ModelSet[Any], found: Sequence[ByTold]) -> None:
        """Give trained models their operating points, by the scores of each fold."""
        limits = Limits.of(self.parameters)
        for told in self.told(models):
            own = [scores[told] for scores in found]
            chosen = self.holdout.choose(models, own, self.labels, limits, self.worlds)
            if chosen:
                models.points.setdefault(told, {}).update(chosen)
        models.condense(self.creates, self.labels)

    def choose(self, best: BestModels, found: Mapping[str, Sequence[ByTold]]) -> None:
        """Let ``best`` have of its sets, which are trained, the kinds that err least.

        ``found`` has by kind the scores of each fold.
        """
        trial = Trial(best.sets, self.holdout, self.labels, found)
        for point in POINTS:
            models, choices = best.at(point), trial.choices(point)
            for key, choice in choices.items():
                models.choose(key, choice)
            for told in self.told(best) if self.holdout.held.any() else ():
                points = self._points(trial, choices, told)
                models.points.setdefault(told, {}).update(points)

    def _points(
        self, trial: Trial, choices: Mapping[str, Choice], told: Told
    ) -> Mapping[str, OperatingPoints]:
        """Return the operating points of the kinds that are chosen where so much is told."""
        points = {key: trial.sets[own[told]].point(key, told) for key, own in choices.items()}
        if self.worlds is None:
            return points
        scores, limits = trial.scores(choices, told), Limits.of(self.parameters)
        return self.holdout.followed(points, scores, self.labels, limits, self.worlds)


class Learner(Protocol):
    """Lets sets of models learn."""

    def learn(self, sets: Sets, lesson: Lesson, best: BestModels | None = None) -> None:
        """Train every one of ``sets``; choose the best of them, if that is asked for."""

    def finish(self) -> None:
        """Return when all have learned."""


class LocalLearner:
    """Lets models learn at once, in this process."""

    def learn(self, sets: Sets, lesson: Lesson, best: BestModels | None = None) -> None:
        """See `Learner`."""
        from joblib import Parallel, delayed  # slow to import, and needed only to learn

        found = {}
        for kind, models in sets.items():
            lesson.train(models, lesson.holdout.learned)
            folds = (delayed(_asked)(lesson, models, fold) for fold in lesson.holdout.folds)
            found[kind] = Parallel(n_jobs=-1, prefer="threads")(folds)
            lesson.finish(models, found[kind])
        if best is not None:
            lesson.choose(best, found)

    def finish(self) -> None:
        """Do nothing: all is done."""


def _asked(lesson: Lesson, models: ModelSet[Any], fold: int) -> ByTold:
    """Return how a fold is scored, by one thread: the other cores are for the other folds."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "openmp"):  # where estimators of users have threads
        return lesson.asked(models, fold)
