"""What the scores of an image mean: cuts and levels (``docs/image-format.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


class Level(NamedTuple):
    """The scores from ``least`` on, and the ``probability`` of a yes in ten-thousandths."""

    least: int
    probability: int


@dataclass(frozen=True)
class Meaning:
    """What scores mean at one history scope; without ``levels`` probabilities are unknown."""

    cuts: Mapping[Point, Cuts] = field(default_factory=dict)
    levels: Sequence[Level] = ()


class _Writer(Protocol):
    def put(self, data: bytes, align: int = 4) -> int:
        """Add ``data``; return its offset."""


@dataclass(frozen=True)
class ImagePredicate:
    """A predicate of an image; ``meanings`` are in the order of ``HISTORY_SCOPES``."""

    key: str
    meanings: Sequence[Meaning]

    def row(self, writer: _Writer, text: int) -> bytes:
        """Add the levels; return the predicate's row. Its key is at the offset ``text``."""
        row = np.array([text], "<u4").tobytes()
        row += np.array([len(self.key.encode()), 0], "<u2").tobytes()
        for meaning in self.meanings:
            levels = np.array(meaning.levels, "<u2").tobytes()
            row += np.array([writer.put(levels), len(meaning.levels)], "<u4").tobytes()
            cuts = [meaning.cuts.get(point, Cuts()) for point in POINTS]
            row += np.array(cuts, "<u2").tobytes()
        return row


def plain_predicate(key: str, cut: int = 1) -> ImagePredicate:
    """Return a predicate that is a yes from one cut on, at both points and all history scopes."""
    cuts = {point: Cuts(yes=cut, sure=cut) for point in POINTS}
    return ImagePredicate(key, [Meaning(cuts)] * len(HISTORY_SCOPES))
