"""A grid of conditions: one comparison for each combination, and one table of all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import pyarrow as pa
from pydantic import ValidationError

from birthmark.data.common.choices import expect
from birthmark.data.common.setting_errors import expected
from birthmark.data.settings import Strict
from birthmark.layout_hint.comparison import options as read
from birthmark.layout_hint.comparison.figures import Comparison, Result
from birthmark.layout_hint.settings import Options, Rate

RATE = "rate"
"""The axis that is no option: the rate of a generated workload relative to the thesis's load."""

AXES = (
    "point",
    "region",
    "region-start",
    "region-inodes",
    "warmup",
    "pace",
    "cache",
    "geometry",
    "allocator",
    "partition",
    "disk",
    RATE,
)
"""Axes of a grid. Policies, modes and states are compared in each cell anyway."""

FIGURES = pa.schema(
    [
        *((name, pa.string()) for name in ("day", "policy", "mode", "state")),
        ("nvram", pa.bool_()),
        *((f"target_{name}", pa.float64()) for name in ("total", "read", "write")),
        *((f"optimal_{name}", pa.float64()) for name in ("total", "read", "write")),
        ("of_optimal", pa.float64()),
        ("elapsed", pa.float64()),
        ("improvement", pa.float64()),
        ("improvement_deviation", pa.float64()),
        ("runs", pa.int64()),
        ("inconsistency", pa.string()),
    ]
)
"""The columns after those of the axes, which are text."""


class _Rated(Strict):
    rate: Rate


@dataclass(frozen=True)
class Cell:
    """One combination of axis values, and its options."""

    values: dict[str, str]  # by axis, in the order in which the axes were given
    options: Options
    rate: float | None = None  # rate at which to regenerate the workloads; None: as they are

    @property
    def name(self) -> str:
        """The combination in words, as ``region=4M,cache=16M``."""
        return ",".join(f"{axis}={value}" for axis, value in self.values.items())


def read_grid(axes: Sequence[str], options: Options) -> list[Cell]:
    """Return the cells of ``AXIS=VALUE,VALUE...``; the last axis varies fastest.

    Raises:
        ValueError: an axis or a value is invalid; the message begins with ``--grid``.
    """
    found: dict[str, list[str]] = {}
    for words in axes:
        axis, equals, values = words.partition("=")
        if not equals or not all(values.split(",")):
            raise ValueError(f"--grid: expected AXIS=VALUE,VALUE..., found {words!r}")
        try:
            expect("axis", axis, AXES)
        except ValueError as error:
            raise ValueError(f"--grid: {error}") from None
        if axis in found:
            raise ValueError(f"--grid: expected each axis once, found {axis} twice")
        found[axis] = list(dict.fromkeys(values.split(",")))
    return [
        _cell(dict(zip(found, values, strict=True)), options) for values in product(*found.values())
    ]


def table(cells: Sequence[tuple[Cell, Comparison]]) -> pa.Table:
    """Return a row for each result of each cell: the axes as given, and ``FIGURES``.

    Figures are means over ``runs``, and shares are fractions, as in `comparison.figures`: the share
    of disk operations in the region (``target``), and on the hottest blocks (``optimal``).
    ``improvement`` is over Default, with its standard deviation.
    """
    axes = [pa.field(axis, pa.string()) for axis in cells[0][0].values]
    rows = [row for cell, found in cells for row in _rows(cell, found)]
    return pa.Table.from_pylist(rows, pa.schema([*axes, *FIGURES]))


def _cell(values: dict[str, str], options: Options) -> Cell:
    given: dict[str, Any] = {axis.replace("-", "_"): value for axis, value in values.items()}
    try:
        rate = _Rated(rate=given.pop(RATE)).rate if RATE in given else None
        changed = Options(**(options.model_dump() | given))
        read.settings(changed)
    except ValidationError as error:
        detail = error.errors()[0]
        axis = str(detail["loc"][0]).replace("_", "-")
        raise ValueError(f"--grid {axis}={values[axis]}: {expected(detail)}") from None
    except ValueError as error:
        raise ValueError(f"--grid: {error}") from None
    return Cell(values, changed, rate)


def _rows(cell: Cell, found: Comparison) -> Iterator[dict[str, Any]]:
    for each in found.results:
        yield cell.values | _figures(each)


def _figures(of: Result) -> dict[str, Any]:
    shares = {
        f"{name}_{column}": getattr(getattr(of, name), column).mean
        for name in ("target", "optimal")
        for column in ("total", "read", "write")
    }
    return {
        "day": of.day,
        "policy": of.policy,
        "mode": of.mode,
        "state": of.state,
        "nvram": of.nvram,
        **shares,
        "of_optimal": of.of_optimal,
        "elapsed": of.elapsed.mean,
        "improvement": of.improvement.mean,
        "improvement_deviation": of.improvement.deviation,
        "runs": of.elapsed.n,
        "inconsistency": of.inconsistency,
    }
