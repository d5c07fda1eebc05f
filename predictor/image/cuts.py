"""What the scores of an image mean: cuts and levels (``docs/image-format.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.answers.point import POINTS, Point
from birthmark_native import BM_NEVER

NEVER = BM_NEVER
"""A cut that no score reaches."""


NO_IMPLIED, IMPLIED_NO, ALL_IMPLIED = 0, 1, 3
"""Implied answers that count: none, only no, or yes and no."""


class Cuts(NamedTuple):
    """The cuts at one operating point: a score from ``yes`` on is a yes.

    Of three answers it is a yes from ``sure`` on, else a no below ``no``, else unsure. ``implied``
    says which implied answers count: ``NO_IMPLIED``, ``IMPLIED_NO``, or ``ALL_IMPLIED``.
    """

    yes: int = NEVER
    sure: int = NEVER
    no: int = 0
    implied: int = NO_IMPLIED


NO_YES = Cuts()
"""Cuts that no score reaches."""


class Level(NamedTuple):
    """The scores from ``least`` on, and the ``probability`` of a yes in ten-thousandths."""

    least: int
    probability: int


@dataclass(frozen=True)
class Meaning:
    """What scores mean at one history scope and point; without ``levels``, no probability."""

    cuts: Cuts = NO_YES
    levels: Sequence[Level] = ()


class _Writer(Protocol):
    def put(self, data: bytes, align: int = 4) -> int:
        """Add ``data``; return its offset."""


@dataclass(frozen=True)
class ImagePredicate:
    """A predicate of an image.

    ``meanings`` has one by point for each of ``HISTORY_SCOPES``; without any, no score is a yes.
    """

    key: str
    meanings: Sequence[Mapping[Point, Meaning]]

    def row(self, writer: _Writer, text: int) -> bytes:
        """Add the levels; return the predicate's row. Its key is at the offset ``text``."""
        row = np.array([text], "<u4").tobytes()
        row += np.array([len(self.key.encode()), 0], "<u2").tobytes()
        for by_point in self.meanings:
            for point in POINTS:
                meaning = by_point.get(point, Meaning())
                levels = np.array(meaning.levels, "<u2").reshape(-1, 2)
                row += np.array([writer.put(levels.tobytes()), len(levels)], "<u4").tobytes()
                row += np.array(meaning.cuts, "<u2").tobytes()
        return row


def plain_predicate(key: str, cut: int = 1) -> ImagePredicate:
    """Return a predicate that is a yes from one cut on, at both points and all history scopes."""
    meaning = Meaning(Cuts(yes=cut, sure=cut))
    return ImagePredicate(key, [dict.fromkeys(POINTS, meaning)] * len(HISTORY_SCOPES))
