"""What the thresholds at which models answer are called."""

from __future__ import annotations

from typing import Literal, get_args

Point = Literal["accurate", "bounded"]
"""Which of a model's two thresholds decides whether the answer is a yes."""

POINTS: tuple[Point, ...] = get_args(Point)
