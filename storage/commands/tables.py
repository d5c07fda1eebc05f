"""Rows of figures, as tables for the terminal."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from rich.table import Column, Table

from birthmark.terminal import table, words

MANY = 7
"""Most columns that are set apart by blanks."""

WRAPPED = 11
"""Least width of a wrapped column."""


def rows(
    title: str,
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    wrapped: Collection[str] = (),
) -> Table:
    """Return rows, each with its name first; columns in `wrapped` may take several lines."""
    cells = zip(*(row[1:] for row in rows), strict=True)
    columns = zip(headings, cells, strict=True)
    drawn = table(*words(""), *(_narrow(*each, each[0] in wrapped) for each in columns))
    drawn.title = title
    if len(headings) > MANY:
        drawn.padding = 0
    for row in rows:
        drawn.add_row(*row)
    return drawn


def _narrow(heading: str, cells: Sequence[str], wrapped: bool) -> Column:
    """Return a column as wide as its longest unbreakable text."""
    texts = [word for cell in cells for word in cell.split()] if wrapped else cells
    least = WRAPPED if wrapped else 0
    width = max(least, *map(len, [*heading.split(), *texts]))
    return Column(heading, justify="right", width=width)
