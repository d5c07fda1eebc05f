"""Helpers for the tables."""

from __future__ import annotations

from rich import box
from rich.table import Table
from rich.text import Text

from birthmark.layout_hint.comparison.figures import Spread

NONE = Text("–", "dim")


def grid(title: str, first: str, *headings: str) -> Table:
    """Return a table without rows, its first column of words; title and headings may have lines."""
    words = Text(title, "table.title")
    table = Table(title=words, title_justify="left", caption_justify="left", box=box.SIMPLE_HEAD)
    table.padding = (0, 1, 0, 0)
    table.add_column(Text(first), no_wrap=True)
    for heading in headings:
        table.add_column(Text(heading), justify="right", no_wrap=True)
    return table


def percent(value: float | None, digits: int) -> Text:
    """Return a fraction in percent, without the sign; nothing for None."""
    return NONE if value is None else Text(f"{100 * value:.{digits}f}")


def spread(of: Spread, digits: int) -> Text:
    """Return a mean in percent, with its standard deviation where there are several."""
    text = percent(of.mean, digits)
    if of.deviation is None:
        return text
    return text.copy().append(f" ±{100 * of.deviation:.{digits}f}", "dim")
