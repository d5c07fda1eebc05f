"""Training: fits sets of models to lives, and chooses their thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from birthmark.data.common.arrays import Bools
from birthmark.features.history_scope import HistoryScope, mask_history
from birthmark.predictor.answers.operating_points import OperatingPoints
from birthmark.predictor.answers.point import POINTS
from birthmark.predictor.fit.best_kind import ModelSelection, ScoresByScope
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.thresholds import Limits
from birthmark.predictor.models.best import BestModels, Choice
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.assignments import Assignments

Sets = Mapping[str, ModelSet[Any]]
"""Sets of models by kind."""


@dataclass(frozen=True)
class TrainingSet:
    """Births and their labels, some of them held out to choose thresholds on.

    ``creates`` and ``labels`` have the same rows. ``parameters`` are those of
    ``predictor.TrainedModel``; each kind of models selects some of them. Without the predicates'
    ``assignments`` only a yes gets thresholds.
    """

    creates: pa.Table
    labels: Mapping[str, pa.BooleanArray]
    holdout: Holdout
    parameters: Mapping[str, Any]
    assignments: Sequence[Assignments] | None = None

    def train(self, models: ModelSet[Any], mask: Bools) -> ModelSet[Any]:
        """Train ``models`` on the births of a mask; return them."""
        rows = pa.array(mask)
        labels = {key: answers.filter(rows) for key, answers in self.labels.items()}
        columns = models.columns(self.creates.filter(rows))
        models.train(columns, labels, **models.own_parameters(self.parameters))
        return models

    def scopes(self, models: type[ModelSet[Any]] | ModelSet[Any]) -> tuple[HistoryScope, ...]:
        """Return the history scopes at which ``models`` score the births."""
        history = self.creates["history"]
        return models.scopes if history.null_count < len(history) else models.scopes[-1:]

    def scores(self, models: ModelSet[Any], fold: int) -> ScoresByScope:
        """Return the scores of the births of a fold by ``models``, for each history scope."""
        creates = self.creates.filter(pa.array(self.holdout.fold == fold))
        scopes = self.scopes(models)
        if len(scopes) == 1:
            return {scopes[0]: models.scores(creates, self.labels)}
        return {scope: models.scores(mask_history(creates, scope), self.labels) for scope in scopes}

    def out_of_fold_scores(self, models: ModelSet[Any], fold: int) -> ScoresByScope:
        """Return the scores of a fold by models that did not learn from it."""
        if self.holdout.crossed:
            models = self.train(type(models)(), self.holdout.fold != fold)
        return self.scores(models, fold)

    def finish(self, models: ModelSet[Any], fold_scores: Sequence[ScoresByScope]) -> None:
        """Choose the operating points of trained models by the scores of each fold."""
        limits = Limits.of(self.parameters)
        for scope in self.scopes(models):
            at_scope = [scores[scope] for scores in fold_scores]
            chosen = self.holdout.choose(models, at_scope, self.labels, limits, self.assignments)
            if chosen:
                models.points.setdefault(scope, {}).update(chosen)
        models.condense(self.creates, self.labels)

    def choose(self, best: BestModels, fold_scores: Mapping[str, Sequence[ScoresByScope]]) -> None:
        """Choose for ``best`` the kinds with the fewest errors among its trained sets.

        ``fold_scores`` has by kind the scores of each fold.
        """
        selection = ModelSelection(best.sets, self.holdout, self.labels, fold_scores)
        for point in POINTS:
            models, choices = best.at(point), selection.choices(point)
            for key, choice in choices.items():
                models.choose(key, choice)
            for scope in self.scopes(best) if self.holdout.held.any() else ():
                points = self._points(selection, choices, scope)
                models.points.setdefault(scope, {}).update(points)

    def _points(
        self, selection: ModelSelection, choices: Mapping[str, Choice], scope: HistoryScope
    ) -> Mapping[str, OperatingPoints]:
        """Return the operating points of the kinds chosen for a history scope."""
        points = {
            key: selection.sets[choice[scope]].point(key, scope) for key, choice in choices.items()
        }
        if self.assignments is None:
            return points
        scores, limits = selection.scores(choices, scope), Limits.of(self.parameters)
        return self.holdout.with_implications(points, scores, self.labels, limits, self.assignments)


class Learner(Protocol):
    """Trains sets of models."""

    def learn(self, sets: Sets, training_set: TrainingSet, best: BestModels | None = None) -> None:
        """Train all of ``sets``, and choose ``best`` of them, if it is given."""

    def finish(self) -> None:
        """Return when all are trained."""


class LocalLearner:
    """Trains models at once, in this process."""

    def learn(self, sets: Sets, training_set: TrainingSet, best: BestModels | None = None) -> None:
        """See `Learner`."""
        from joblib import Parallel, delayed  # slow to import, and needed only to learn

        fold_scores = {}
        for kind, models in sets.items():
            training_set.train(models, training_set.holdout.learned)
            folds = (
                delayed(_out_of_fold_scores)(training_set, models, fold)
                for fold in training_set.holdout.folds
            )
            fold_scores[kind] = Parallel(n_jobs=-1, prefer="threads")(folds)
            training_set.finish(models, fold_scores[kind])
        if best is not None:
            training_set.choose(best, fold_scores)

    def finish(self) -> None:
        """Do nothing: ``learn`` has trained all."""


def _out_of_fold_scores(
    training_set: TrainingSet, models: ModelSet[Any], fold: int
) -> ScoresByScope:
    """Score a fold in one thread: the other cores are for the other folds."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "openmp"):  # for users' estimators that start threads
        return training_set.out_of_fold_scores(models, fold)
