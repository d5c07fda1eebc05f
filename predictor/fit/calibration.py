"""Calibration: the births that thresholds are chosen on, and their out-of-fold scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Ints
from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.answers import certainty
from birthmark.predictor.answers.certainty import ThreeWayAnswer
from birthmark.predictor.answers.operating_points import OperatingPoints, Scores
from birthmark.predictor.answers.point import BOUNDED, POINTS
from birthmark.predictor.fit.thresholds import Limits, Slice, choose
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.assignments import Assignments

BLOCKS = 100
"""Number of blocks of equal size into which a period's births are divided, in order of time.

A day's blocks take a quarter of an hour, longer than a burst of creates. Their number makes the
estimate of the scatter so good that it hardly widens the limits of ``thresholds.upper_limits``
(Student's quantile is 1% above the normal one)."""

_LEAST_GAIN = 1e-9
"""The gain of a stricter threshold that removes no wrong answer: a step towards one that does."""

CROSSED = 200_000
"""Greatest number of births for cross-validation: the model learns from all, thresholds are chosen
on all, and each fold takes one more training. With more births, a fifth is enough to choose on."""


@dataclass(frozen=True)
class Holdout:
    """The births of a period in folds of time, each scored by a model that did not learn from it.

    Folds are periods because births of the same minutes are alike: a model that learned from one
    of two such births scores the other better than those of the next day. ``block`` numbers the
    ``BLOCKS`` of time; ``fold`` the folds to calibrate on, -1 elsewhere.

    With few births, use cross-validation: every birth is in a fold (``crossed``) and the model
    learns from all. Each fold is scored by another model, which learned from the other folds, as in
    cross-conformal prediction (Vovk, "Cross-conformal predictors", 2015; Barber, Candès, Ramdas and
    Tibshirani, "Predictive inference with the jackknife+", 2021). These models share most of their
    training rows, so their errors are less independent than those of rows: as the latter prove for
    intervals, half of the risk must be allowed for the whole of it. The folds are long periods, so
    that they include drift. Otherwise one fold has every n-th block, and the model learns from the
    rest.
    """

    block: Ints
    fold: Ints

    @classmethod
    def of(cls, births: pa.Table, share: float, crossed: bool | None = None) -> Holdout:
        """Divide ``births``: about ``share`` of them in a fold (a half at most; 0: no folds).

        ``crossed`` (every birth in a fold) is the default up to ``CROSSED`` births.
        """
        if not 0 <= share <= 0.5:
            raise ValueError(f"the share of lives to calibrate on is 0 to 0.5, not {share!r}")
        n = len(births)
        block = np.empty(n, dtype=np.int64)
        order = np.argsort(births["born"].cast(pa.int64()).to_numpy(), kind="stable")
        block[order] = np.arange(n) * BLOCKS // max(n, 1)
        if not share:
            return cls(block, np.full(n, -1))
        folds = round(1 / share)
        if crossed or (crossed is None and n <= CROSSED):
            return cls(block, block * folds // BLOCKS)
        return cls(block, np.where(block % folds == folds - 1, 0, -1))

    @property
    def crossed(self) -> bool:
        """Whether every birth is in a fold, and in training as well."""
        return bool(len(self.fold)) and bool((self.fold >= 0).all())

    @property
    def learned(self) -> Bools:
        """The births that the model learns from."""
        return np.full(len(self.fold), True) if self.crossed else np.asarray(self.fold < 0)

    @property
    def held(self) -> Bools:
        """The births that thresholds are chosen on."""
        return np.asarray(self.fold >= 0)

    @property
    def folds(self) -> range:
        """The numbers of the folds."""
        return range(self.fold.max(initial=-1) + 1)

    def choose(
        self,
        models: ModelSet[Any],
        fold_scores: Sequence[Mapping[str, Scores]],
        labels: Mapping[str, pa.BooleanArray],
        limits: Limits,
        assignments: Sequence[Assignments] | None = None,
    ) -> dict[str, OperatingPoints]:
        """Return the operating points of ``models`` by key, chosen on the births in folds.

        There are none without folds. ``models`` learned from the births ``learned``.
        ``fold_scores`` has the scores of each fold by key, from ``models``, or with ``crossed``
        from models that learned from the other folds. ``labels`` are those of all births; unknown
        ones do not count. Without the predicates' ``assignments`` only a yes gets thresholds.
        """
        if self.crossed:
            limits = limits.halved_risk()
        scores = {key: self.scored(key, fold_scores) for key in labels}
        decision = models.decision if models.is_baseline else None
        chosen: dict[str, OperatingPoints] = {}
        for key, column in labels.items() if self.held.any() else ():
            known = self.held & column.is_valid().to_numpy(zero_copy_only=False)
            truth = column.filter(pa.array(known)).to_numpy(zero_copy_only=False)
            fold = self.fold[known] if self.crossed else None
            part = Slice(scores[key][known], truth, self.block[known], fold)
            no_limit = None if assignments is None else limits.no
            chosen[key] = choose(part, limits.yes, decision, no_limit)
        if assignments is not None and chosen:
            self._allow_implications(chosen, scores, labels, limits, assignments)
        return chosen

    def scored(self, key: str, fold_scores: Sequence[Mapping[str, Scores]]) -> Scores:
        """Return the scores of all births from those of each fold; 0 outside the folds."""
        scores = np.zeros(len(self.fold))
        for number, by_key in zip(self.folds, fold_scores, strict=True):
            scores[self.fold == number] = by_key[key]
        return scores

    def with_implications(
        self,
        points: Mapping[str, OperatingPoints],
        fold_scores: Sequence[Mapping[str, Scores]],
        labels: Mapping[str, pa.BooleanArray],
        limits: Limits,
        assignments: Sequence[Assignments],
    ) -> dict[str, OperatingPoints]:
        """Return operating points of several kinds that keep the bounds with implied answers.

        The rest is as in ``choose``.
        """
        if self.crossed:
            limits = limits.halved_risk()
        chosen = dict(points)
        scores = {key: self.scored(key, fold_scores) for key in chosen}
        self._allow_implications(chosen, scores, labels, limits, assignments)
        return chosen

    def _allow_implications(
        self,
        chosen: dict[str, OperatingPoints],
        scores: Mapping[str, Scores],
        labels: Mapping[str, pa.BooleanArray],
        limits: Limits,
        assignments: Sequence[Assignments],
    ) -> None:
        """Let every predicate use implied answers, and keep the bounds with them.

        An implied answer is wrong only where an answer that implies it is wrong. If a predicate
        breaks a bound with implied answers, a predicate with wrong answers in some of these rows
        becomes stricter, until all bounds are kept. At the accurate point neither a yes nor its
        implications have a bound.
        """
        related = {key for group in assignments for key in group if key in scores}
        for key in related:
            chosen[key] = replace(chosen[key], follows=POINTS)
        held = {key: scores[key][self.held] for key in scores if key in related}
        truths = {key: self._truth(labels[key]) for key in held}
        while True:
            answers = certainty.answer(held, chosen, assignments, BOUNDED)
            broken = self._broken(answers, truths, limits)
            if broken is None or not self._answer_less(chosen, held, truths, *broken):
                return

    def _truth(self, labels: pa.BooleanArray) -> tuple[Bools, Bools]:
        """Return where labels of the births in folds are known, and where they are true."""
        held = labels.filter(pa.array(self.held))
        known = held.is_valid().to_numpy(zero_copy_only=False)
        return known, held.fill_null(False).to_numpy(zero_copy_only=False).astype(bool)

    def _broken(
        self,
        answers: Mapping[str, ThreeWayAnswer],
        truths: Mapping[str, tuple[Bools, Bools]],
        limits: Limits,
    ) -> tuple[str, Bools] | None:
        """Return a predicate that breaks a bound, and the rows on which it is wrong; or none."""
        block = self.block[self.held]
        for key, answer in answers.items():
            known, true = truths[key]
            for wrong, limit in (
                (answer.is_word("yes") & known & ~true, limits.yes),
                (answer.is_word("no") & known & true, limits.no),
            ):
                if wrong.any() and not limit.keeps(wrong[known], block[known]):
                    return key, wrong
        return None

    @staticmethod
    def _answer_less(
        chosen: dict[str, OperatingPoints],
        scores: Mapping[str, Scores],
        truths: Mapping[str, tuple[Bools, Bools]],
        broken: str,
        wrong: Bools,
    ) -> bool:
        """Make a predicate stricter that is wrong by itself in some of the rows ``wrong``.

        It is the one that loses the fewest right answers for each wrong one. Return whether there
        is one; an answer of unknown truth counts as wrong.
        """
        best, choice = 0.0, None
        for key in (broken, *scores):
            known, true = truths[key]
            for yes, right in ((True, known & true), (False, known & ~true)):
                stricter = chosen[key].stricter(yes)
                before = chosen[key].alone(scores[key], yes)
                lost = before & ~stricter.alone(scores[key], yes)
                if not np.any(before & ~right & wrong):
                    continue
                gain = np.count_nonzero(lost & ~right & wrong) + _LEAST_GAIN
                if (gain := gain / (1 + np.count_nonzero(lost & right))) > best:
                    best, choice = gain, (key, stricter)
        if choice is not None:
            chosen[choice[0]] = choice[1]
        return choice is not None


def points_from_json(
    saved: Mapping[HistoryScope, Mapping[str, dict[str, float]]],
) -> dict[HistoryScope, dict[str, OperatingPoints]]:
    """Return operating points by history scope and by key.

    Raises ``ValueError`` or ``TypeError`` if they are invalid.
    """
    if unknown := saved.keys() - set(HISTORY_SCOPES):
        raise ValueError(f"{unknown.pop()!r} is none of {', '.join(HISTORY_SCOPES)}")
    return {
        scope: {key: OperatingPoints.from_json(dict(points)) for key, points in by_key.items()}
        for scope, by_key in saved.items()
    }
