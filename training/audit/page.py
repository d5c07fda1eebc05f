"""An audit as one HTML page: warnings first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from birthmark.data.common.percentages import percent
from birthmark.training.reports.charts import whisker
from birthmark.training.reports.labels import AXIS, TITLES
from birthmark.training.reports.report import page

if TYPE_CHECKING:
    from birthmark.training.audit.run import Audit

GROUPINGS = {"hour": "Hour (UTC)", "user": "User", "client": "Client"}


def render(audit: Audit) -> str:
    """Return the self-contained page of an audit, deterministically."""
    rows = [{**row, "marks": _marks(row)} for row in audit.figures.to_pylist()]
    return page(
        "audit.html.j2",
        audit=audit,
        rows=rows,
        groups=_groups(audit),
        groupings=GROUPINGS,
        kinds=TITLES,
    )


def _marks(row: Mapping[str, Any]) -> dict[str, float] | None:
    """Return the places of false positives and their interval, in percent of an axis.

    None without a bound or without known outcomes.
    """
    found = whisker(row, "false_positives")
    if row["bound"] is None or found is None:
        return None
    return {name: min(100.0, 100 * value / row["bound"] / AXIS) for name, value in found.items()}


def _groups(audit: Audit) -> dict[str, list[dict[str, Any]]]:
    """Return the figures of all predicates together for each group, by grouping."""
    sums: dict[tuple[str, str], list[int]] = {}
    columns = ("n", "n_correct", "n_true_positive", "n_false_positive")
    for row in audit.groups.to_pylist():
        held = sums.setdefault((row["by"], row["group"]), [0] * len(columns))
        held[:] = (one + row[column] for one, column in zip(held, columns, strict=True))
    found: dict[str, list[dict[str, Any]]] = {by: [] for by in GROUPINGS}
    for (by, group), (n, correct, hits, alarms) in sums.items():
        found[by].append(
            {
                "group": group,
                "answers": n,
                "correct": percent(correct, n),
                "precision": percent(hits, hits + alarms),
                "false_positives": percent(alarms, n),
            }
        )
    found["hour"].sort(key=lambda row: row["group"])
    return found
