"""The names of a model's two operating points (their thresholds: ``operating_points``)."""

from __future__ import annotations

from typing import Literal, get_args

Point = Literal["accurate", "bounded"]
"""The threshold for a yes that decides; a no has a separate threshold."""

ACCURATE: Point = "accurate"
"""The default point of two-way answers."""

BOUNDED: Point = "bounded"
"""The point that keeps the bounds: the default of three-way answers, and of a service."""

POINTS: tuple[Point, ...] = get_args(Point)
