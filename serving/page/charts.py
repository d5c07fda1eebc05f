"""Coordinates for the page's charts, which the template draws.

They are in percent of a plot's width and height, y downwards.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Value = float | None
Segment = list[tuple[float, float]]

STEPS = 96
"""The most points of a line over a day: one each quarter of an hour."""


def segments(values: Sequence[Value], top: float) -> list[Segment]:
    """Return the lines through equidistant `values`, broken at each None."""
    lines: list[Segment] = [[]]
    for x, value in zip(places(len(values)), values, strict=True):
        if value is None:
            lines.append([])
        else:
            lines[-1].append((x, 100 - 100 * min(value, top) / top))
    return [line for line in lines if line]


def places(n: int) -> list[float]:
    """Return the x of `n` values; a single one is in the middle."""
    return [50.0] if n == 1 else [100 * place / (n - 1) for place in range(n)]


def chart(title: str, unit: str, times: Sequence[str], **lines: Sequence[Value]) -> dict[str, Any]:
    """Return a chart of `lines`, by CSS class, over formatted `times`."""
    known = [value for line in lines.values() for value in line if value is not None]
    top = rounded(max(known, default=0.0))
    at = places(len(times))
    return {
        "title": title,
        "unit": unit,
        "lines": {name: segments(line, top) for name, line in lines.items()},
        "last": {name: _last(line) for name, line in lines.items()},
        "y": [(100 - 50 * half, short(top * half / 2)) for half in range(3)],
        "x": [(at[place], times[place]) for place in ticks(times)],
        "empty": not known,
    }


def ticks(times: Sequence[str]) -> list[int]:
    """Return the indices of the first, middle and last of `times`, without duplicate labels."""
    first = {times[place]: place for place in (len(times) - 1, len(times) // 2, 0) if times}
    return sorted(first.values())


def rounded(value: float) -> float:
    """Return the least of …, 0.5, 1, 2, 4, 5, 10, 20, … that is not below `value`."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 5, 10) if step * power >= value * 0.999999)


def short(value: float) -> str:
    """Return a number in short form, for an axis."""
    return f"{value:,.0f}" if value >= 10_000 else f"{value:.4g}"


def _last(line: Sequence[Value]) -> Value:
    return next((value for value in reversed(line) if value is not None), None)
