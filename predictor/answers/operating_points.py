"""The thresholds of one model, the bounds that each keeps, and the levels of its scores."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from birthmark.data.common.arrays import Bools, Bytes, Floats
from birthmark.predictor.answers.point import Point


@dataclass(frozen=True)
class Levels:
    """Level *i* has the scores from cut *i* - 1 up to, not including, cut *i*; ``cuts`` ascend.

    ``probabilities`` of a yes are one per level, one more than there are cuts. They do not descend,
    and are never 0 or 1; ``None`` is unknown.
    """

    cuts: tuple[float, ...] = ()
    probabilities: tuple[float | None, ...] = (None,)

    def __post_init__(self) -> None:
        """Convert JSON's lists to tuples; raise ``ValueError`` unless cuts and lengths fit."""
        for name in ("cuts", "probabilities"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.probabilities) != len(self.cuts) + 1 or sorted(self.cuts) != [*self.cuts]:
            raise ValueError("levels need ascending cuts, and one more probability than these")

    def of(self, scores: Floats) -> Bytes:
        """Return the level of each score."""
        return np.searchsorted(np.asarray(self.cuts), scores, side="right").astype(np.uint8)


NO_LEVELS = Levels()
"""The levels of a model that was not calibrated."""


ALWAYS, EVEN, NEVER = 0.0, 0.5, float(np.nextafter(1.0, 2.0))
"""Thresholds that every score reaches, that the likelier answer reaches, that none reaches."""

Scores = Floats


@dataclass(frozen=True)
class OperatingPoints:
    """The thresholds of one model: a score at or above the threshold is a yes.

    ``accurate`` is right most often; ``bounded`` keeps the limit on false positives. ``None``
    abstains: no threshold keeps the limit and is right as often as a constant answer. ``n`` lives
    were calibrated on; ``false_positives`` is the share of them that ``bounded`` wrongly answers
    yes, and ``upper`` the upper confidence limit that admitted it.

    Any other score is a no below ``no``, which keeps the limit on false negatives (``None``:
    never), with ``false_negatives`` and ``no_upper`` likewise.
    ``accurate_errors`` and ``bounded_errors`` are the shares of wrong answers at each point.
    ``levels`` map scores to probabilities. At the points in ``follows``, answers that other
    predicates imply count, too (``predictor.answers.certainty``).
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
        """Return the share of wrong answers at ``point``; ``None`` without known labels."""
        return self.accurate_errors if point == "accurate" else self.bounded_errors

    def alone(self, scores: Scores, yes: bool) -> Bools:
        """Return where ``scores`` are a bounded yes (or no), apart from implied answers."""
        if yes:
            return says_yes(scores, self.bounded)
        return np.asarray(scores < (ALWAYS if self.no is None else self.no))

    def stricter(self, yes: bool) -> OperatingPoints:
        """Return points with fewer bounded answers of ``yes``, or else of no.

        The threshold moves to the next cut of the levels; beyond the last there are no such
        answers. The confidence limits do not grow.
        """
        if yes:
            least = NEVER if self.bounded is None else self.bounded
            return replace(
                self, bounded=min((c for c in self.levels.cuts if c > least), default=None)
            )
        most = ALWAYS if self.no is None else self.no
        below = (cut for cut in self.levels.cuts if cut < most)
        return replace(self, no=max(below, default=None))

    @classmethod
    def from_json(cls, saved: dict[str, Any]) -> OperatingPoints:
        """Read what ``dataclasses.asdict`` wrote; raise ``ValueError`` if it is invalid."""
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
