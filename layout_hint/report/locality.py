"""Thesis Tables 7.1 to 7.3: operations in the region, and the best possible."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from rich.table import Table
from rich.text import Text

from birthmark.layout_hint.comparison.figures import Comparison, Result
from birthmark.layout_hint.report import thesis
from birthmark.layout_hint.report.grid import NONE, grid, percent, spread
from birthmark.layout_hint.report.kinds import policies, words

_HEADINGS = ("total", "read", "write")


def table(comparison: Comparison, state: str, mode: str | None) -> Table:
    """Return the table of one state and mode, in percent of the operations on disk.

    To the right are the thesis's figures, if it has that trace and policy, and the file system is
    fresh.
    """
    days = [day for day in comparison.days if thesis.locality(comparison.title, day, "Default")]
    beside = bool(days) and state == "fresh"
    headings = [f"{of}\n{each}" for of in ("Target", "Optimal") for each in _HEADINGS]
    headings.append("of\noptimal")
    if beside:
        headings += [f"thesis\n{each}" for each in _HEADINGS] + ["of\noptimal"]
    made = grid(_title(comparison, state, mode), "\nCondition", *headings)
    for day in comparison.days:
        _add_day(made, comparison, (day, state, mode), beside)
    made.caption = _caption(comparison, state)
    return made


def beside(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the thesis's rows for the days and policies of a comparison."""
    rows = []
    for day in comparison.days:
        for policy in policies(comparison):
            if found := thesis.locality(comparison.title, day, policy):
                figures = asdict(found) | {"of_optimal": found.of_optimal}
                rows.append({"day": day, "policy": policy} | figures)
    return rows


def _title(comparison: Comparison, state: str, mode: str | None) -> str:
    return f"Operations in the region, percent\n{words(comparison, (state, mode))}"


def _add_day(
    made: Table, comparison: Comparison, of: tuple[str, str, str | None], beside: bool
) -> None:
    day, state, mode = of
    made.add_row(Text(day, "bold"))
    for policy in policies(comparison):
        found = comparison.find(day, policy, mode, state)
        if not found:
            continue
        cells = [spread(getattr(found.target, each), 3) for each in _HEADINGS]
        cells += [percent(getattr(found.optimal, each).mean, 3) for each in _HEADINGS]
        cells.append(percent(found.of_optimal, 0))
        if beside:
            cells += _thesis(comparison.title, found)
        made.add_row(_condition(found), *cells)
    made.add_section()


def _condition(found: Result) -> Text:
    text = Text(f"  {found.policy}")
    return text.append(" (inconsistent)", "red") if found.inconsistency else text


def _thesis(title: str, found: Result) -> list[Text]:
    row = thesis.locality(title, found.day, found.policy)
    if row is None:
        return [NONE] * 4
    return [*(percent(each, 3) for each in row.target), percent(row.of_optimal, 0)]


def _caption(comparison: Comparison, state: str) -> str:
    settings = comparison.settings
    defaults = [each for each in comparison.of_state(state) if each.policy == "Default"]
    shares = ", ".join(f"{100 * each.random.mean:.3f}" for each in defaults)
    seeds = len(settings.seeds)
    runs = f"Means over {seeds} seeds ± standard deviation. " if seeds > 1 else ""
    published = thesis.RANDOM.get(comparison.title)
    beside = f" (thesis: {100 * published:.2f})" if published else ""
    return f"{runs}A region at random would get {shares}{beside}." if shares else runs
