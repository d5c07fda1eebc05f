"""Places of the marks in the report's drawings; the template draws them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Point = tuple[float, float]

SIZE_LIMIT = 32
"""The size axis ends at 2 to this power, bytes (section 6.2)."""

_MINUTE, _HOUR, _DAY = 60, 3600, 86_400
_ENDS = [
    *((minutes * _MINUTE, f"{minutes} min") for minutes in (1, 2, 5, 10, 30)),
    *((hours * _HOUR, f"{hours} h") for hours in (1, 2, 6, 12, 24)),
]


def lifespan_axis(boxes: Sequence[Sequence[float] | None]) -> tuple[float, str]:
    """Return the end of the common lifespan axis, in seconds and as a label.

    The thesis's axis ends at 24 hours, for traces of a day. Other traces get the next of a few
    round ends beyond their longest lifespan.
    """
    longest = max((box[-1] for box in boxes if box), default=0.0)
    days = math.ceil(longest / _DAY)
    return next((end for end in _ENDS if longest <= end[0]), (days * _DAY, f"{days} days"))


def size_box(values: Sequence[float] | None) -> list[float] | None:
    """Return a size box's marks in percent of a logarithmic axis from 0 to 2³² bytes."""
    if values is None:
        return None
    return [min(100.0, 100 * math.log2(1 + value) / SIZE_LIMIT) for value in values]


def lifespan_box(values: Sequence[float] | None, end: float) -> list[float] | None:
    """Return a lifespan box's marks in percent of a linear axis from 0 to `end` seconds."""
    return None if values is None else [100 * value / end for value in values]


def line(rows: Sequence[Mapping[str, Any]], column: str, low: float) -> list[tuple[float, float]]:
    """Return the points of `column` over minfrac in percent of a plot's width and height.

    minfrac runs from `low` to 1 and the column, in percent, from 0 at the foot to 100.
    """
    return [
        (100 * (row["minfrac"] - low) / (1 - low), 100 - row[column])
        for row in rows
        if row[column] is not None
    ]


def whisker(row: Mapping[str, Any], column: str) -> dict[str, float] | None:
    """Return a percentage of `row` and the ends of its interval; None without a percentage.

    Without an interval, both ends are the figure itself.
    """
    at = row[column]
    if at is None:
        return None
    low, high = row[f"{column}_low"], row[f"{column}_high"]
    return {"at": at, "low": at if low is None else low, "high": at if high is None else high}


def curve(points: Sequence[Mapping[str, Any]], logarithmic: bool = False) -> list[Point]:
    """Return the points of a curve, 0 to 1 both ways, in percent of a plot's width and height.

    `logarithmic`: x has a logarithmic scale from the first point's to the last one's.
    """
    xs = [float(point["x"]) for point in points]
    if logarithmic and len(xs) > 1:
        first, last = math.log(xs[0]), math.log(xs[-1])
        xs = [(math.log(x) - first) / (last - first) for x in xs]
    return [(100 * x, 100 - 100 * point["y"]) for x, point in zip(xs, points, strict=True)]
