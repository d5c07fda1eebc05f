"""The table of a grid: the results of each combination of conditions."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from rich.table import Table
from rich.text import Text

from birthmark.layout_hint.report.grid import NONE, grid, percent

_WORDS = {"day": "Day", "state": "State", "mode": "Mode", "nvram": "NVRAM"}


def table(rows: pa.Table, axes: Sequence[str]) -> Table:
    """Return a row for each result: writes in the region, the best possible, and time saved.

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
