"""What the kinds of models, and the thresholds at which they answer, are called."""

from __future__ import annotations

from typing import Literal, get_args

Kind = Literal["name", "able", "rules", "forest"]
"""What the kinds of models are called: the thesis's two, and the two that are to be better."""

Point = Literal["accurate", "bounded"]
"""Which of a model's two thresholds decides whether the answer is a yes."""

POINTS: tuple[Point, ...] = get_args(Point)
