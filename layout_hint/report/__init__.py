"""A comparison as tables for a terminal, as charts, and as a map of the disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rich.table import Table

from birthmark.layout_hint.comparison.figures import Comparison
from birthmark.layout_hint.replay.conditions import DEFAULT
from birthmark.layout_hint.replay.region import geometry
from birthmark.layout_hint.report import charts, disk_map, elapsed, locality
from birthmark.layout_hint.report.kinds import kinds

__all__ = ["draw", "tables", "to_json"]


def tables(comparison: Comparison) -> list[Table]:
    """Return Tables 7.1 to 7.3 and Table 7.4, for every state and mode."""
    every = kinds(comparison)
    return [
        *(locality.table(comparison, *kind) for kind in every),
        *(elapsed.table(comparison, *kind) for kind in every),
    ]


def to_json(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison with the thesis's figures, as fractions, where it has some.

    ``thesis`` has ``locality`` and ``elapsed``, a row for each day and policy.
    """
    beside = {"locality": locality.beside(comparison), "elapsed": elapsed.beside(comparison)}
    return comparison.to_json() | {"thesis": beside}


def draw(comparison: Comparison, directory: Path) -> list[Path]:
    """Draw a comparison's charts and maps into a directory; return the files.

    ``locality-STATE.svg`` and ``elapsed-STATE.svg`` for each state, and
    ``map-DAY-STATE[-MODE].png`` for each day.

    Raises:
        OSError: one cannot be written.
    """
    drawn = []
    for state in comparison.states:
        for name, chart in (("locality", charts.locality), ("elapsed", charts.elapsed)):
            drawn.append(directory / f"{name}-{state}.svg")
            chart(comparison, state, drawn[-1])
    settings = comparison.settings
    sizes = geometry(settings.geometry, settings.partition) if comparison.heat else None
    for day in comparison.days:
        for state, mode in kinds(comparison):
            if sizes is None or (day, DEFAULT, None, state) not in comparison.heat:
                continue
            name = "-".join(word for word in ("map", day, state, mode) if word)
            drawn.append(directory / f"{name}.png")
            disk_map.draw(comparison, day, state, mode, sizes, drawn[-1])
    return drawn
