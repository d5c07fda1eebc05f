"""Compile models to images in memory (``predictor.saved_images`` writes files)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any

import numpy as np

from birthmark.features.history_scope import HISTORY_SCOPES, HistoryScope
from birthmark.predictor.answers import certainty
from birthmark.predictor.answers.operating_points import ALWAYS, OperatingPoints, Scores
from birthmark.predictor.answers.operating_points import NEVER as NO_SCORE
from birthmark.predictor.answers.point import BOUNDED, POINTS, Point
from birthmark.predictor.image.cuts import (
    ALL_IMPLIED,
    IMPLIED_NO,
    NEVER,
    NO_IMPLIED,
    Cuts,
    ImagePredicate,
    Level,
    Meaning,
)
from birthmark.predictor.image.format import Scoring, compile_image
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.predicates.assignments import Assignments
from birthmark_native import BM_PROBABILITY_STEPS

MOST_CUTS = 254
"""Greatest number of cuts of a model whose score is the number of those that it reaches."""


def compile_models(
    models: ModelSet[Any],
    point: Point = BOUNDED,
    assignments: Iterable[Assignments] = (),
    abstaining: Collection[str] = (),
) -> bytes:
    """Return the image that answers as ``models`` do; ``abstaining`` are never a yes.

    Its lookups answer at ``point``. Raises ``ValueError`` for a kind of models that has no section,
    and if a limit of the format is exceeded.
    """
    groups = [
        {key: holds for key, holds in table.items() if key in models} for table in assignments
    ]
    predicates = predicates_of(models, models, abstaining)
    return compile_image(predicates, sections_of(models, models), [*filter(None, groups)], point)


def sections_of(models: ModelSet[Any], keys: Iterable[str]) -> list[Scoring]:
    """Return the sections that score as the models of ``keys`` do.

    Raises ``ValueError`` for a kind of models that has no section.
    """
    keys, sections = list(keys), []
    for kind, own in models.by_kind().items():
        counts = [
            {
                point: [key for key in keys if models.at(point).kind_of(key, scope) == kind]
                for point in POINTS
            }
            for scope in HISTORY_SCOPES
        ]
        selected = dict.fromkeys(
            key for by_point in counts for at_point in by_point.values() for key in at_point
        )
        if selected:
            cuts = {key: _cuts(models, key, kind) for key in selected}
            made = own.sections({key: own[key] for key in selected}, cuts)
            sections += [Scoring(section, counts) for section in made]
    return sections


def predicates_of(
    models: ModelSet[Any], keys: Iterable[str], abstaining: Collection[str] = ()
) -> list[ImagePredicate]:
    """Return what the scores of the models of ``keys`` mean; ``abstaining`` are never a yes."""
    return [
        ImagePredicate(
            key,
            [
                {point: _meaning(models, key, scope, point, key in abstaining) for point in POINTS}
                for scope in HISTORY_SCOPES
            ],
        )
        for key in keys
    ]


def _cuts(models: ModelSet[Any], key: str, kind: str) -> Scores:
    """Return the cuts of a model in ascending order, where it answers."""
    cuts: set[float] = set()
    for point in POINTS:
        for scope in HISTORY_SCOPES:
            if models.at(point).kind_of(key, scope) == kind:
                points = models.at(point).point(key, scope)
                cuts |= {*points.levels.cuts, points.at(point) or ALWAYS}
    used = np.array(sorted(cut for cut in cuts if ALWAYS < cut < NO_SCORE))
    if len(used) > MOST_CUTS:
        raise ValueError(f"{key} has {len(used)} cuts: a model in an image has at most {MOST_CUTS}")
    return used


def _meaning(
    models: ModelSet[Any], key: str, scope: HistoryScope, point: Point, is_suppressed: bool
) -> Meaning:
    own = models.at(point)
    points, kind = own.point(key, scope), own.kind_of(key, scope)
    least = partial(_least_score, own, key, scope, _cuts(models, key, kind))
    cuts = _cuts_at(points, point, least)
    if is_suppressed:
        cuts = Cuts(no=cuts.no, implied=cuts.implied & IMPLIED_NO)
    levels = points.levels
    if all(likely is None for likely in levels.probabilities):
        return Meaning(cuts)
    rows = zip((ALWAYS, *levels.cuts), levels.probabilities, strict=True)
    return Meaning(cuts, _ascending((least(cut), likely) for cut, likely in rows))


def _least_score(
    models: ModelSet[Any], key: str, scope: HistoryScope, cuts: Scores, threshold: float | None
) -> int:
    """Return the least score in an image that reaches a threshold."""
    if threshold is None or threshold >= NO_SCORE:
        return NEVER
    least = models.least_sum(key, threshold, scope)
    if least is None:
        least = 0 if threshold <= ALWAYS else 1 + int(np.searchsorted(cuts, threshold))
    return min(least, NEVER)


def _cuts_at(points: OperatingPoints, point: Point, least: Any) -> Cuts:
    words = certainty.words_of_levels(points, point)
    sure = next((low for low, _, word in words if word == "yes"), None)
    no = max((high for _, high, word in words if word == "no"), default=ALWAYS)
    implied = ALL_IMPLIED if point in points.follows else NO_IMPLIED
    return Cuts(least(points.at(point)), least(sure), least(no), implied)


def _ascending(levels: Iterable[tuple[int, float | None]]) -> list[Level]:
    """Return the levels that some score has; the last of equal ones counts."""
    by_least = {least: _in_steps(likely) for least, likely in levels if least != NEVER}
    return [Level(least, by_least[least]) for least in sorted(by_least)]


def _in_steps(share: float | None) -> int:
    """Return a probability in ten-thousandths, never certain; 0 is unknown."""
    if share is None:
        return 0
    steps = math.floor(share * BM_PROBABILITY_STEPS + 0.5)
    return min(max(steps, 1), BM_PROBABILITY_STEPS - 1)
