"""Model selection: the kind of models with the fewest out-of-fold errors.

It uses calibration's scores (``predictor.fit.calibration``), without more training. Each subject
has one kind that is best over all its predicates, both points and all history scopes
(``features.history_scope.HISTORY_SCOPES``), each with equal weight: at training time it is unknown
what clients will know. A kind without history errs equally often at each scope.

For a predicate, scope and point another kind is chosen only if it errs significantly less, by a
paired t-test over the folds, which are long periods (or over the blocks of time, if there is one
fold). Small differences do not persist to the next day. On captured days (selected on the first,
tested on the second) the kind with the fewest errors for each predicate and scope erred more often
than this selection does, and so did a test over the many blocks of time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.answers.operating_points import Scores, says_yes
from birthmark.predictor.answers.point import POINTS, Point
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.thresholds import surely_better
from birthmark.predictor.models.best import Choice
from birthmark.predictor.models.model_set import ModelSet

UNJUDGED = "rules"
"""The default kind, without any known errors."""


def held_out_errors(
    models: Mapping[str, ModelSet[Any]], point: Point, keys: Iterable[str] | None = None
) -> dict[str, float]:
    """Return by kind the share of wrong answers at ``point`` on births held out.

    It is the mean over the predicates of ``keys`` (None: all) and history scopes. An abstaining
    predicate's answer is no. Kinds that were not calibrated on any known label are left out.
    """
    errors = {}
    selected = None if keys is None else list(keys)
    for kind, own in models.items():
        points = (
            own.at(point).point(key, scope)
            for key in (own if selected is None else selected)
            for scope in HISTORY_SCOPES
        )
        shares = [share for p in points if (share := p.errors_at(point)) is not None]
        if shares:
            errors[kind] = sum(shares) / len(shares)
    return errors


def best_kind(errors: Mapping[str, float], otherwise: str) -> str:
    """Return the kind of the least ``errors``; ``otherwise`` at a tie, or without any."""
    return min(errors, key=lambda kind: (errors[kind], kind != otherwise), default=otherwise)


ScoresByScope = Mapping[HistoryScope, Mapping[str, Scores]]
"""Scores of births by history scope and by key."""


@dataclass(frozen=True)
class ModelSelection:
    """Selection among ``sets`` of models, by kind, on births with ``labels``.

    ``fold_scores`` has by kind the scores of each fold of the holdout.
    """

    sets: Mapping[str, ModelSet[Any]]
    holdout: Holdout
    labels: Mapping[str, pa.BooleanArray]
    fold_scores: Mapping[str, Sequence[ScoresByScope]]

    def choices(self, point: Point) -> dict[str, Choice]:
        """Return by key the kind that answers at ``point``, for each history scope."""
        best = self._best
        return {
            key: {scope: self._kind(key, scope, best, point) for scope in HISTORY_SCOPES}
            for key in self.labels
        }

    @cached_property
    def _best(self) -> str:
        """The kind that is best over all predicates, points and scopes."""
        usual = UNJUDGED if UNJUDGED in self.sets else next(iter(self.sets))
        errors = [held_out_errors(self.sets, point, self.labels) for point in POINTS]
        return best_kind({kind: sum(at[kind] for at in errors) for kind in errors[0]}, usual)

    def scores(self, choices: Mapping[str, Choice], scope: HistoryScope) -> list[dict[str, Scores]]:
        """Return the scores of each fold by the kinds chosen for a history scope."""
        return [
            {
                key: _at_scope(self.fold_scores[choice[scope]][number], scope)[key]
                for key, choice in choices.items()
            }
            for number in self.holdout.folds
        ]

    def _kind(self, key: str, scope: HistoryScope, best: str, point: Point) -> str:
        """Return the kind that errs least; ``best``, unless another is significantly better."""
        points = {kind: models.point(key, scope) for kind, models in self.sets.items()}
        errors = {
            kind: share
            for kind, operating in points.items()
            if (share := operating.errors_at(point)) is not None
        }
        other = best_kind(errors, best)
        if other == best:
            return best
        right, usual = (
            self._right(key, kind, scope, points[kind].at(point)) for kind in (other, best)
        )
        holdout = self.holdout
        together = (holdout.fold if holdout.crossed else holdout.block)[self._known(key)]
        return other if surely_better(right, usual, together) else best

    def _right(self, key: str, kind: str, scope: HistoryScope, threshold: float | None) -> Bools:
        """Return which births held out a kind answers correctly."""
        scores = self.holdout.scored(
            key, [_at_scope(fold, scope) for fold in self.fold_scores[kind]]
        )
        known = self._known(key)
        truth = self.labels[key].filter(pa.array(known)).to_numpy(zero_copy_only=False)
        return np.asarray(says_yes(scores[known], threshold) == truth)

    def _known(self, key: str) -> Bools:
        """Return which births are held out and have a known label."""
        valid = self.labels[key].is_valid().to_numpy(zero_copy_only=False)
        return np.asarray(self.holdout.held & valid)


def _at_scope(scores: ScoresByScope, scope: HistoryScope) -> Mapping[str, Scores]:
    """Return a kind's scores at a history scope, or at the next narrower one that it has."""
    return next(
        scores[less] for less in HISTORY_SCOPES[HISTORY_SCOPES.index(scope) :] if less in scores
    )
