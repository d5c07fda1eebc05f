"""Which births thresholds are chosen on, and which model scores each: one that did not see it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Ints
from birthmark.features.told import TOLD, Told
from birthmark.predictor.answers import certainty
from birthmark.predictor.answers.certainty import Said
from birthmark.predictor.answers.operating_points import OperatingPoints, Scores
from birthmark.predictor.answers.point import POINTS, Point
from birthmark.predictor.fit.thresholds import Limits, Slice, choose
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.worlds import Worlds

BLOCKS = 100
"""The births of a period are divided, in order of time, into this many blocks of equal size.

Those of a day are of a quarter of an hour, longer than a burst of creates; and of so many the
scatter is known so well that the limits of ``thresholds.upper_limits`` are hardly wider for it
(Student's quantile is 1% above the normal one)."""

CROSSED = 200_000
"""Up to so many births, a model learns from all, and its thresholds are chosen on all.

That takes one more training for each fold. Of more births, a fifth is enough to choose on."""


@dataclass(frozen=True)
class Holdout:
    """The births of a period in stretches of time, each scored by a model that did not see it.

    Why stretches: births of the same minutes are alike. Where a model learned from one of two such
    births, its score of the other would tell little of tomorrow. ``block`` numbers 100 blocks of
    time; ``fold`` the stretches to calibrate on, -1 elsewhere.

    Of few births none can be spared. Then each is in a fold (``crossed``) and the model learns from
    all. Each fold is scored by another model, which learned from the other folds, as in
    cross-conformal prediction (Vovk, "Cross-conformal predictors", 2015; Barber, Candès, Ramdas and
    Tibshirani, "Predictive inference with the jackknife+", 2021). These models, which share most of
    what they learned from, err less independently than rows do: as the latter prove for intervals,
    half of the risk is to be allowed for the whole of it. The folds are long stretches, so that
    what they tell of is drift, too: a model that knows the minutes before and after does better
    than tomorrow. Else there is one fold, of every so many blocks, and the model learns from the
    rest.
    """

    block: Ints
    fold: Ints

    @classmethod
    def of(cls, births: pa.Table, share: float, crossed: bool | None = None) -> Holdout:
        """Divide ``births``: about ``share`` of them in a fold (a half at most; 0: no folds).

        ``crossed`` (every birth in a fold) is by default where there are at most ``CROSSED``.
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
        """Whether every birth is in a fold, and learned from as well."""
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
        found: Sequence[Mapping[str, Scores]],
        labels: Mapping[str, pa.BooleanArray],
        limits: Limits,
        worlds: Sequence[Worlds] | None = None,
    ) -> dict[str, OperatingPoints]:
        """Return the operating points of ``models``, chosen by how the births in folds were scored.

        They are by key; none without folds. ``models`` learned from the births ``learned``.
        ``found`` has the scores of each fold by key: given by ``models``, or where births are
        ``crossed`` by others, that learned from the births of the other folds. ``labels`` are of
        all births; those whose label is unknown do not count. ``worlds`` are those of the
        predicates; without (None) only a yes gets thresholds.
        """
        if self.crossed:
            limits = limits.surer()
        scores = {key: self.scored(key, found) for key in labels}
        decision = models.decision if models.is_baseline else None
        chosen: dict[str, OperatingPoints] = {}
        for key, labelled in labels.items() if self.held.any() else ():
            known = self.held & labelled.is_valid().to_numpy(zero_copy_only=False)
            truth = labelled.filter(pa.array(known)).to_numpy(zero_copy_only=False)
            fold = self.fold[known] if self.crossed else None
            part = Slice(scores[key][known], truth, self.block[known], fold)
            no_limit = None if worlds is None else limits.no
            chosen[key] = choose(part, limits.yes, decision, no_limit)
        if worlds is not None and chosen:
            self._let_follow(chosen, scores, labels, limits, worlds)
        return chosen

    def scored(self, key: str, found: Sequence[Mapping[str, Scores]]) -> Scores:
        """Return the scores of the births, found fold by fold; 0 of those in none."""
        scores = np.zeros(len(self.fold))
        for number, answers in zip(self.folds, found, strict=True):
            scores[self.fold == number] = answers[key]
        return scores

    def followed(
        self,
        points: Mapping[str, OperatingPoints],
        found: Sequence[Mapping[str, Scores]],
        labels: Mapping[str, pa.BooleanArray],
        limits: Limits,
        worlds: Sequence[Worlds],
    ) -> dict[str, OperatingPoints]:
        """Return operating points of several kinds, as what follows from their answers allows.

        The rest is as in ``choose``.
        """
        if self.crossed:
            limits = limits.surer()
        chosen = {key: replace(own, follows=()) for key, own in points.items()}
        scores = {key: self.scored(key, found) for key in chosen}
        self._let_follow(chosen, scores, labels, limits, worlds)
        return chosen

    def _let_follow(
        self,
        chosen: dict[str, OperatingPoints],
        scores: Mapping[str, Scores],
        labels: Mapping[str, pa.BooleanArray],
        limits: Limits,
        worlds: Sequence[Worlds],
    ) -> None:
        """Let what follows from other answers be said of the predicates that keep bounds with it.

        What follows is wrong where that is wrong from which it follows, so that it could break a
        bound which both keep. At the accurate point a yes has none.
        """
        related = {key for each in worlds for key in each if key in scores}
        asked = {key: scores[key][self.held] for key in scores if key in related}
        for point in POINTS:
            points = {key: replace(chosen[key], follows=(point,)) for key in asked}
            for key, said in certainty.say(asked, points, worlds, point).items():
                if self._keeps(said, labels[key], limits, point):
                    own = chosen[key]
                    chosen[key] = replace(own, follows=(*own.follows, point))

    def _keeps(self, said: Said, labels: pa.BooleanArray, limits: Limits, point: Point) -> bool:
        """Return whether what is said of the births in folds keeps the bounds that hold there."""
        labels = labels.filter(pa.array(self.held))
        known = labels.is_valid().to_numpy(zero_copy_only=False)
        truth = labels.drop_null().to_numpy(zero_copy_only=False).astype(bool)
        block = self.block[self.held][known]
        if not limits.no.keeps(said.is_word("no")[known] & truth, block):
            return False
        false_yes = said.is_word("yes")[known] & ~truth
        return point == "accurate" or limits.yes.keeps(false_yes, block)


def points_from_json(
    saved: Mapping[Told, Mapping[str, dict[str, float]]],
) -> dict[Told, dict[str, OperatingPoints]]:
    """Return operating points by what is told and by key.

    Raises ``ValueError`` or ``TypeError`` if they are none.
    """
    if unheard := saved.keys() - set(TOLD):
        raise ValueError(f"{unheard.pop()!r} is none of {', '.join(TOLD)}")
    return {
        told: {key: OperatingPoints.from_json(dict(points)) for key, points in own.items()}
        for told, own in saved.items()
    }
