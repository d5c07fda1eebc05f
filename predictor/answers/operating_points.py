"""The thresholds at which one model answers, and what is promised of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from birthmark.data.common.arrays import Bools, Floats
from birthmark.predictor.answers.levels import NO_LEVELS, Levels
from birthmark.predictor.answers.point import Point

ALWAYS, EVEN, NEVER = 0.0, 0.5, float(np.nextafter(1.0, 2.0))
"""Thresholds that every score reaches, that the likelier answer reaches, and that none reaches."""

Scores = Floats


@dataclass(frozen=True)
class OperatingPoints:
    """The thresholds of one model: a score of at least that much is a yes.

    ``accurate`` is right most often, ``bounded`` keeps the limit on false positives; ``None``
    abstains: no threshold keeps it and is right as often as a constant answer, so it is never a
    yes. ``n`` lives were calibrated on; ``false_positives`` is the share of them that ``bounded``
    is wrongly yes on, and ``upper`` the upper confidence limit that admitted it.

    What is no yes is a no where the score is below ``no``, which keeps the limit on false
    negatives (``None``: never); ``false_negatives`` and ``no_upper`` are those of it.
    ``accurate_errors`` and ``bounded_errors`` are the shares of the lives that are wrongly answered
    yes, or not yes, at each point.
    ``levels`` say how likely each score makes a yes. At the points in ``follows`` what follows from
    other answers is said of the predicate, too (``predictor.answers.certainty``).
    """

    accurate: float
    bounded: float | None = None
    n: int = 0
    false_positives: float | None = None
    upper: float | None = None
    no: float | None = None
    false_negatives: float | None = None
    no_upper: float | None = None
    levels: Levels = NO_LEVELS
    follows: tuple[Point, ...] = ()
    accurate_errors: float | None = None
    bounded_errors: float | None = None

    def at(self, point: Point) -> float | None:
        """Return the threshold at ``point``."""
        return self.accurate if point == "accurate" else self.bounded

    def errors_at(self, point: Point) -> float | None:
        """Return the share of wrong answers at ``point``; ``None`` where none could be judged."""
        return self.accurate_errors if point == "accurate" else self.bounded_errors

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> OperatingPoints:
        """Return what ``dataclasses.asdict`` wrote; raise ``ValueError`` if it is none."""
        levels = saved.get("levels")
        follows = tuple(saved.get("follows", ()))
        points = cls(
            **{**saved, "levels": Levels(**levels) if levels else NO_LEVELS, "follows": follows}
        )
        for threshold in (points.accurate, points.bounded, points.no, *points.levels.cuts):
            if threshold is not None and not ALWAYS <= threshold <= NEVER:
                raise ValueError(f"a threshold is from 0 to 1, not {threshold!r}")
        return points


def says_yes(scores: Scores, threshold: float | None) -> Bools:
    """Return where ``scores`` reach ``threshold``; ``None`` is never reached."""
    if threshold is None:
        return np.zeros(len(scores), dtype=bool)
    return np.asarray(scores >= threshold)
