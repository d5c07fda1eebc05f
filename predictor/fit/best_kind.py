"""Which kind of models errs least, on births that it did not learn from.

It is told by how calibration scored them (``predictor.fit.calibration``), and costs no more
training. Of each subject's predicates one kind is best on the whole. Every predicate weighs the
same there, both points, and every level of what may be told of a create (``features.told.TOLD``):
nobody knows at training how much askers will know. A kind that is told nothing errs as often at
each.

For a predicate, a level and a point another kind is taken only where it errs less by more than
chance: by a paired t-test over the folds, which are long stretches of time (or over blocks of time,
where there is one fold). What is hardly better today may be much worse tomorrow. On captured days
(learned from the first, of which all of this was chosen; tested on the second) the kind of least
errors for each predicate and level, however little less, was wrong more often than that which this
takes, and so was one by a test over the blocks of time, of which there are many.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools
from birthmark.features.told import TOLD, Told
from birthmark.predictor.answers.operating_points import Scores, says_yes
from birthmark.predictor.answers.point import POINTS, Point
from birthmark.predictor.fit.calibration import Holdout
from birthmark.predictor.fit.thresholds import surely_better
from birthmark.predictor.models.best import Choice
from birthmark.predictor.models.model_set import ModelSet

UNJUDGED = "rules"
"""The kind that answers where nothing tells which is best."""


def held_out_errors(
    models: Mapping[str, ModelSet[Any]], point: Point, keys: Iterable[str] | None = None
) -> dict[str, float]:
    """Return by kind which share of its answers at ``point`` was wrong of births held out.

    It is the mean over predicates, of ``keys`` (None: all), and levels. An abstaining predicate's
    answer is no. Kinds that were not calibrated, or on no birth whose label is known, are left out.
    """
    errors = {}
    some = None if keys is None else list(keys)
    for kind, own in models.items():
        asked = own if some is None else some
        points = (own.at(point).point(key, told) for key in asked for told in TOLD)
        found = [each.errors_at(point) for each in points]
        known = [share for share in found if share is not None]
        if known:
            errors[kind] = sum(known) / len(known)
    return errors


def best_kind(errors: Mapping[str, float], otherwise: str) -> str:
    """Return the kind of the least ``errors``; ``otherwise`` if it is as good, or none is known."""
    return min(errors, key=lambda kind: (errors[kind], kind != otherwise), default=otherwise)


ByTold = Mapping[Told, Mapping[str, Scores]]
"""Scores by what is told of the births, and by key."""


@dataclass(frozen=True)
class Trial:
    """How ``sets`` of models, by kind, scored births of which ``labels`` tell what became.

    ``found`` has by kind the scores of each fold of the holdout.
    """

    sets: Mapping[str, ModelSet[Any]]
    holdout: Holdout
    labels: Mapping[str, pa.BooleanArray]
    found: Mapping[str, Sequence[ByTold]]

    def choices(self, point: Point) -> dict[str, Choice]:
        """Return by key which kind is to answer at ``point``, whatever is told."""
        best = self._best
        return {
            key: {told: self._kind(key, told, best, point) for told in TOLD} for key in self.labels
        }

    @cached_property
    def _best(self) -> str:
        """The kind that is best on the whole."""
        usual = UNJUDGED if UNJUDGED in self.sets else next(iter(self.sets))
        found = [held_out_errors(self.sets, point, self.labels) for point in POINTS]
        return best_kind({kind: sum(each[kind] for each in found) for kind in found[0]}, usual)

    def scores(self, choices: Mapping[str, Choice], told: Told) -> list[dict[str, Scores]]:
        """Return the scores of each fold by the kinds that answer where so much is told."""
        return [
            {
                key: _less(self.found[choice[told]][number], told)[key]
                for key, choice in choices.items()
            }
            for number in self.holdout.folds
        ]

    def _kind(self, key: str, told: Told, best: str, point: Point) -> str:
        """Return the kind that errs least; ``best``, unless another is surely better."""
        points = {kind: own.point(key, told) for kind, own in self.sets.items()}
        errors = {
            kind: share
            for kind, own in points.items()
            if (share := own.errors_at(point)) is not None
        }
        other = best_kind(errors, best)
        if other == best:
            return best
        right, usual = (
            self._right(key, kind, told, points[kind].at(point)) for kind in (other, best)
        )
        holdout = self.holdout
        together = (holdout.fold if holdout.crossed else holdout.block)[self._known(key)]
        return other if surely_better(right, usual, together) else best

    def _right(self, key: str, kind: str, told: Told, threshold: float | None) -> Bools:
        """Return which births held out a kind answers rightly."""
        scores = self.holdout.scored(key, [_less(own, told) for own in self.found[kind]])
        known = self._known(key)
        truth = self.labels[key].filter(pa.array(known)).to_numpy(zero_copy_only=False)
        return np.asarray(says_yes(scores[known], threshold) == truth)

    def _known(self, key: str) -> Bools:
        """Return which births are held out, and their label is known."""
        valid = self.labels[key].is_valid().to_numpy(zero_copy_only=False)
        return np.asarray(self.holdout.held & valid)


def _less(scores: ByTold, told: Told) -> Mapping[str, Scores]:
    """Return what a kind found where so much is told; or less, if that is all it may be told."""
    return next(scores[less] for less in TOLD[TOLD.index(told) :] if less in scores)
