"""Results of simulations, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from birthmark.storage.commands.tables import rows
from birthmark.terminal import table, words


def claims(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return each claim, named first, with a line for each of the other headings."""
    drawn = table(headings[0], "", *words(""))
    for name, *cells in rows:
        for number, (heading, cell) in enumerate(zip(headings[1:], cells, strict=True)):
            drawn.add_row("" if number else name, heading, cell)
    return drawn


def responses(figures: dict[str, Any]) -> Table:
    """Return mean and quantiles of each kind of request, in milliseconds."""
    names = ("mean", "p50", "p95", "p99")
    cells = [
        (name, f"{own['requests']:,}", *(f"{own[f'{each}_ms']:.3f}" for each in names))
        for name, own in figures.items()
    ]
    return rows("Response times, ms", ("requests", *names), cells)


def agreement(figures: dict[str, Any]) -> Table:
    """Return mean and demerit of each kind of request, in milliseconds."""
    headings = ("requests", "simulated ms", "measured ms", "demerit ms", "of the mean")
    cells = []
    for name, own in figures.items():
        demerit, mean = own["demerit_ms"], own["measured_mean_ms"]
        share = f"{100 * demerit / mean:.1f} %" if mean else ""
        times = (f"{time:.3f}" for time in (own["mean_ms"], mean, demerit))
        cells.append((name, f"{own['requests']:,}", *times, share))
    return rows("Response times", headings, cells)


def parts(figures: dict[str, Any], title: str = "Where the simulated time goes, ms") -> Table:
    """Return where the simulated means go, in milliseconds."""
    names = list(next(iter(figures.values()))["parts_ms"])
    cells = [
        (name, *(f"{own['parts_ms'][part]:.3f}" for part in names)) for name, own in figures.items()
    ]
    return rows(title, [name.replace("_", " ") for name in names], cells)
