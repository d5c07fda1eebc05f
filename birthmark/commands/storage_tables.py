"""What simulations find, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.table import Table

from birthmark.terminal import numbers


def rows(title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return rows, each with its name first."""
    table = Table("", *numbers(*headings), title=title, title_justify="left")
    for row in rows:
        table.add_row(*row)
    return table


def claims(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a row for each claim."""
    table = Table(*headings, show_lines=True)
    for row in rows:
        table.add_row(*row)
    return table


def responses(rows: dict[str, Any]) -> Table:
    """Return mean and quantiles of each kind of request, in milliseconds."""
    names = ("mean", "p50", "p95", "p99")
    title = "Response times, ms"
    table = Table("", *numbers("requests", *names), title=title, title_justify="left")
    for name, figures in rows.items():
        times = (f"{figures[f'{each}_ms']:.3f}" for each in names)
        table.add_row(name, f"{figures['requests']:,}", *times)
    return table


def agreement(rows: dict[str, Any]) -> Table:
    """Return mean and demerit of each kind of request, in milliseconds."""
    headings = ("requests", "simulated ms", "measured ms", "demerit ms", "of the mean")
    table = Table("", *numbers(*headings), title="Response times", title_justify="left")
    for name, figures in rows.items():
        demerit, mean = figures["demerit_ms"], figures["measured_mean_ms"]
        share = f"{100 * demerit / mean:.1f} %" if mean else ""
        times = (f"{time:.3f}" for time in (figures["mean_ms"], mean, demerit))
        table.add_row(name, f"{figures['requests']:,}", *times, share)
    return table


def parts(rows: dict[str, Any], title: str = "Where the simulated time goes, ms") -> Table:
    """Return where the simulated means go, in milliseconds."""
    names = list(next(iter(rows.values()))["parts_ms"])
    table = Table("", *numbers(*names), title=title, title_justify="left")
    for name, figures in rows.items():
        table.add_row(name, *(f"{figures['parts_ms'][part]:.3f}" for part in names))
    return table
