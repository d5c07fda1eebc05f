"""Levels: ranges of a model's scores, each with the probability of a yes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from birthmark.data.common.arrays import Bytes, Floats


@dataclass(frozen=True)
class Levels:
    """Level *i* has the scores from cut *i* - 1 on, and below cut *i*; ``cuts`` ascend.

    ``probabilities`` say of each level, one more than there are cuts, how likely a yes is. They do
    not descend, and are never 0 or 1. ``None`` where nothing is known of them.
    """

    cuts: tuple[float, ...] = ()
    probabilities: tuple[float | None, ...] = (None,)

    def __post_init__(self) -> None:
        """Take lists, as JSON has them; raise ``ValueError`` for what are no levels."""
        for name in ("cuts", "probabilities"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        if len(self.probabilities) != len(self.cuts) + 1 or sorted(self.cuts) != [*self.cuts]:
            raise ValueError("levels need ascending cuts, and one more probability than these")

    def of(self, scores: Floats) -> Bytes:
        """Return the level of each score."""
        return np.searchsorted(np.asarray(self.cuts), scores, side="right").astype(np.uint8)


NO_LEVELS = Levels()
"""Of a model that was not calibrated."""
