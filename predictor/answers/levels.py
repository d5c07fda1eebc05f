"""Levels: ranges of a model's scores, each with the probability of a yes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from birthmark.data.common.arrays import Bytes, Floats


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
