"""Thesis Table 7.4: time saved by policies."""

from __future__ import annotations

from typing import Any

from rich.table import Table
from rich.text import Text

from birthmark.layout_hint.comparison.figures import Comparison, Result
from birthmark.layout_hint.replay.conditions import DEFAULT
from birthmark.layout_hint.report import thesis
from birthmark.layout_hint.report.grid import NONE, grid, percent, spread
from birthmark.layout_hint.report.kinds import policies, words

Columns = dict[str, tuple[str, bool]]
"""The policy of each column, and whether the region is memory."""


def columns(comparison: Comparison) -> Columns:
    """Return the columns: a policy each, but for Default; and those with the region in memory."""
    found: Columns = {each: (each, False) for each in policies(comparison) if each != DEFAULT}
    memory = dict.fromkeys(each.policy for each in comparison.results if each.nvram)
    for policy in memory:
        found[thesis.NVRAM if len(memory) == 1 else f"{policy}, NVRAM"] = (policy, True)
    return found


def result(
    comparison: Comparison, day: str, column: tuple[str, bool], kind: tuple[str, str | None]
) -> Result | None:
    """Return a cell's result, if there was such a run."""
    (policy, nvram), (state, mode) = column, kind
    return comparison.find(day, policy, mode, state, nvram)


def table(comparison: Comparison, state: str, mode: str | None) -> Table:
    """Return the table of one state and mode: percent of Default's elapsed time that was saved.

    Below each day are the thesis's figures, if it has the trace and the file system is fresh.
    """
    wanted = columns(comparison)
    headings = [column.replace("+", "+\n").replace(", ", ",\n") for column in wanted]
    title = f"Gain in elapsed time over Default, percent\n{words(comparison, (state, mode))}"
    made = grid(title, "Day", "Default,\ns", *headings)
    for day in comparison.days:
        default = comparison.find(day, DEFAULT, mode, state)
        seconds = Text(f"{default.elapsed.mean:,.1f}") if default else NONE
        found = [result(comparison, day, each, (state, mode)) for each in wanted.values()]
        made.add_row(
            day, seconds, *(spread(each.improvement, 2) if each else NONE for each in found)
        )
        published = [thesis.improvement(comparison.title, day, each) for each in wanted]
        if state == "fresh" and any(each is not None for each in published):
            made.add_row("  thesis", NONE, *(percent(each, 2) for each in published), style="dim")
    if thesis.NVRAM in wanted:
        made.caption = f"{thesis.NVRAM}: {wanted[thesis.NVRAM][0]} with the region in memory."
    return made


def beside(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the thesis's cells for the days and columns of a comparison."""
    return [
        {"day": day, "policy": policy, "nvram": nvram, "improvement": found}
        for day in comparison.days
        for column, (policy, nvram) in columns(comparison).items()
        if (found := thesis.improvement(comparison.title, day, column)) is not None
    ]
