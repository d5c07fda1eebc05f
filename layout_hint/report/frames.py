"""Thesis Tables 7.1 to 7.4 as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from birthmark.layout_hint.comparison.figures import Comparison
from birthmark.layout_hint.report import elapsed, thesis
from birthmark.layout_hint.report.kinds import kinds, policies

_OF, _EACH = ("target", "optimal"), ("total", "read", "write")
_HEADINGS = [(of.capitalize(), each.capitalize()) for of in _OF for each in _EACH]


def locality(comparison: Comparison) -> pd.DataFrame:
    """Return the shares in the region, as Tables 7.1 to 7.3: means over the seeds, in percent.

    A row is a day, state, mode and policy. The columns are Target and Optimal of all operations, of
    reads and of writes, and Target's writes in percent of Optimal's.
    """
    rows = []
    for state, mode in kinds(comparison):
        for day in comparison.days:
            for policy in policies(comparison):
                if found := comparison.find(day, policy, mode, state):
                    shares = {
                        (of.capitalize(), each.capitalize()): 100
                        * getattr(getattr(found, of), each).mean
                        for of in _OF
                        for each in _EACH
                    }
                    shares["Target", "of optimal"] = 100 * found.of_optimal
                    rows.append(((day, state, mode or "", policy), shares))
    frame = _frame(rows, ["Day", "State", "Mode", "Condition"])
    headings = [*_HEADINGS, ("Target", "of optimal")]
    return frame.set_axis(pd.MultiIndex.from_tuples(headings), axis="columns")


def saved_time(comparison: Comparison) -> pd.DataFrame:
    """Return the time that policies save over Default, as Table 7.4: means, in percent.

    A row is a day, state and mode; a column is a policy, or one with the region in memory.
    """
    columns = elapsed.columns(comparison)
    rows = []
    for state, mode in kinds(comparison):
        for day in comparison.days:
            cells = {
                name: 100 * found.improvement.mean
                for name, column in columns.items()
                if (found := elapsed.result(comparison, day, column, (state, mode)))
            }
            rows.append(((day, state, mode or ""), cells))
    return _frame(rows, ["Day", "State", "Mode"])


def thesis_locality(trace: str) -> pd.DataFrame:
    """Return the thesis's figures for CAMPUS, DEAS03 or EECS03 in Tables 7.1 to 7.3, in percent.

    A row is a day (``YYYY-MM-DD``) and policy. Raises ``ValueError`` for another trace.
    """
    rows = []
    for place, found in thesis.localities(trace).items():
        shares = {
            (of.capitalize(), each.capitalize()): 100 * share
            for of in _OF
            for each, share in zip(_EACH, getattr(found, of), strict=True)
        }
        rows.append((place, shares))
    frame = _frame(rows, ["Day", "Condition"])
    return frame.set_axis(pd.MultiIndex.from_tuples(_HEADINGS), axis="columns")


def thesis_saved_time(trace: str) -> pd.DataFrame:
    """Return the thesis's figures for a trace in Table 7.4: a row for each day, in percent.

    Raises ``ValueError`` as ``thesis_locality`` does.
    """
    saved = 100 * pd.Series(thesis.improvements(trace))
    return saved.unstack(sort=False).rename_axis("Day")


def _frame(
    rows: Sequence[tuple[tuple[str, ...], Mapping[Any, float]]], index: list[str]
) -> pd.DataFrame:
    places = pd.MultiIndex.from_tuples([place for place, _ in rows], names=index)
    return pd.DataFrame([cells for _, cells in rows], index=places)
