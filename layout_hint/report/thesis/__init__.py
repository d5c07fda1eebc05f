"""The figures of thesis Tables 7.1 to 7.4, as published.

A day that the thesis lacks, with the name of its trace, is compared with its day of the same
weekday: it measured one Tuesday to Friday.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import TypeVar

from birthmark.data.common.choices import expect

_Cell = TypeVar("_Cell")

NVRAM = "NVRAM"
"""Table 7.4's column for both heuristics with the region in memory."""

RANDOM = {"CAMPUS": 0.0004, "DEAS03": 0.0002, "EECS03": 0.0003}
"""Expected share of a random region, "approximately" (section 7.2)."""


@dataclass(frozen=True)
class Locality:
    """A row of Tables 7.1 to 7.3: total, reads and writes, as fractions."""

    target: tuple[float, float, float]
    optimal: tuple[float, float, float]

    @property
    def of_optimal(self) -> float:
        """The writes in the region, as a fraction of the optimal."""
        return self.target[2] / self.optimal[2]


def locality(title: str, day: str, policy: str) -> Locality | None:
    """Return the thesis's row for a trace, day (``YYYY-MM-DD``) and policy; None if it has none."""
    return _localities().get((title, _day(title, day), policy))


def improvement(title: str, day: str, policy: str) -> float | None:
    """Return what Table 7.4 has for a policy or :data:`NVRAM`, as a fraction; None if nothing."""
    return _improvements().get((title, _day(title, day), policy))


def localities(trace: str) -> dict[tuple[str, str], Locality]:
    """Return a trace's rows of Tables 7.1 to 7.3, by day and policy; ``ValueError`` if none."""
    return _own(trace, _localities())


def improvements(trace: str) -> dict[tuple[str, str], float]:
    """Return a trace's cells of Table 7.4, by day and policy; ``ValueError`` if none."""
    return _own(trace, _improvements())


def _own(trace: str, rows: Mapping[tuple[str, str, str], _Cell]) -> dict[tuple[str, str], _Cell]:
    expect("trace of the thesis", trace, RANDOM)
    return {(day, policy): cell for (of, day, policy), cell in rows.items() if of == trace}


def _day(title: str, day: str) -> str:
    """Return the thesis's day of the same date or weekday; nothing if there is none."""
    try:
        weekday = date.fromisoformat(day).weekday()
    except ValueError:
        return ""
    days = {each for trace, each, _ in _localities() if trace == title}
    return next((each for each in days if date.fromisoformat(each).weekday() == weekday), "")


@cache
def _localities() -> dict[tuple[str, str, str], Locality]:
    def three(row: dict[str, str], column: str) -> tuple[float, float, float]:
        total, read, write = (
            float(row[f"{column}_{of}_pct"]) / 100 for of in ("total", "read", "write")
        )
        return total, read, write

    return {
        (row["trace"], row["day"], row["policy"]): Locality(
            three(row, "target"), three(row, "optimal")
        )
        for row in _rows("locality.csv")
    }


@cache
def _improvements() -> dict[tuple[str, str, str], float]:
    return {
        (row["trace"], row["day"], row["policy"]): float(row["improvement_pct"]) / 100
        for row in _rows("elapsed.csv")
    }


def _rows(name: str) -> list[dict[str, str]]:
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()[1:]))  # the first says where they are from
