"""The marks of generated traces (`data.generated`), which stay when all else is replaced."""

from __future__ import annotations

from collections.abc import Iterable

from birthmark.data.generated import Mark, distinct
from birthmark.data.settings import WORKLOADS


def passed_on(marks: Iterable[Mark]) -> list[Mark]:
    """Return marks stripped to a workload's name and the seed, so that nothing else passes."""
    return distinct(
        {
            "name": mark["name"] if mark["name"] in WORKLOADS else "unknown",
            "seed": mark["seed"] if isinstance(mark["seed"], int) else 0,
        }
        for mark in marks
    )
