"""The two points at which a model answers, by name (their thresholds: ``operating_points``)."""

from __future__ import annotations

from typing import Literal, get_args

Point = Literal["accurate", "bounded"]
"""Which of a model's two thresholds for a yes decides; a no has a threshold of its own."""

PLAIN: Point = "accurate"
"""The point of a plain yes or no, where none is asked for."""

PROMISED: Point = "bounded"
"""The point of what is promised: of three answers, and of a service's, where none is asked for."""

POINTS: tuple[Point, ...] = get_args(Point)
