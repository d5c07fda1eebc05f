"""The table of a grid of conditions, and helpers for all tables."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from rich import box
from rich.table import Table
from rich.text import Text

from birthmark.layout_hint.comparison.figures import Spread

NONE = Text("–", "dim")


def grid(title: str, first: str, *headings: str) -> Table:
    """Return an empty table: a column of text, and others aligned right."""
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


_WORDS = {"day": "Day", "state": "State", "mode": "Mode", "nvram": "NVRAM"}


def table(rows: pa.Table, axes: Sequence[str]) -> Table:
    """Return a table of results: writes in the region, the best possible, and time saved.

    Columns for day, state, mode and memory appear only if they differ.
    """
    shown = [each for each in _WORDS if len(set(rows[each].to_pylist()) - {None}) > 1]
    first, *others = [*axes, *(_WORDS[each] for each in shown)]
    title = "Writes in the region, and elapsed time saved over Default, percent"
    headings = ["Policy", "Target\nwrite", "Optimal\nwrite", "of\noptimal", "saved"]
    made = grid(title, f"\n{first}", *(f"\n{each}" for each in others), *headings)
    before = None
    for row in rows.to_pylist():
        place = [row[each] for each in axes]
        if before not in (None, place):
            made.add_section()
        before = place
        made.add_row(
            *(str(value) for value in place),
            *(NONE if row[each] is None else Text(str(row[each])) for each in shown),
            row["policy"] + (" (inconsistent)" if row["inconsistency"] else ""),
            percent(row["target_write"], 2),
            percent(row["optimal_write"], 2),
            percent(row["of_optimal"], 0),
            percent(row["improvement"], 2),
        )
    return made
