"""One HTML page that shows what a model learned from and how well it predicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
from jinja2 import Environment, PackageLoader, StrictUndefined

from features.components import component_text
from training import charts

CHARTED = {
    "file": ("lock", "size=zero", "0<size<=16k", "lifespan<=5"),
    "name": ("lock", "lifespan<=5"),
}
"""The predicates whose sensitivity Tables 6.9 to 6.14 show."""

KINDS = {"name": "Name model", "able": "ABLE tree", "forest": "Forest"}
"""What the kinds of model are called on the page, in the order of its columns."""


def render(
    about: Mapping[str, Mapping[str, str]],
    evaluation: pa.Table,
    sensitivity: pa.Table,
    distributions: pa.Table,
) -> str:
    """Return the page: complete in itself, and the same for the same input.

    `about` holds lists of label and text under the headings they are to have. The tables are of
    `EVALUATION`, `SENSITIVITY` and `DISTRIBUTIONS`.
    """
    environment = Environment(
        loader=PackageLoader("training"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["percent"] = _percent
    boxes = [_box_row(row) for row in distributions.to_pylist()]
    end, label = charts.lifespan_axis([row["lifespan"] for row in boxes])
    for row in boxes:
        row["size_marks"] = charts.size_box(row["size"])
        row["lifespan_marks"] = charts.lifespan_box(row["lifespan"], end)
    return environment.get_template("report.html.j2").render(
        about=about,
        kinds={kind: name for kind, name in KINDS.items() if kind in _kinds(evaluation)},
        accuracy=_accuracy(evaluation),
        sensitivity=_sensitivity(sensitivity),
        boxes=boxes,
        lifespan_end=label,
        show_bytes=_bytes,
        show_seconds=_seconds,
    )


def _kinds(evaluation: pa.Table) -> set[str]:
    return set(evaluation["model"].to_pylist())


def _accuracy(evaluation: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each subject's table: one per predicate, with every model's figures."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for (subject, _), group in groupby(
        evaluation.to_pylist(), key=lambda row: (row["subject"], row["predicate"])
    ):
        rows = list(group)
        most, least = (extreme(row["n_correct"] for row in rows) for extreme in (max, min))
        for row in rows:
            row["best"] = row["n_correct"] == most > least
            row["worse"] = row["n"] > 0 and row["correct"] < row["guess"]
        tables.setdefault(subject, []).append(
            {**rows[0], "of": {row["model"]: row for row in rows}}
        )
    return tables


def _sensitivity(sensitivity: pa.Table) -> list[dict[str, Any]]:
    """Return one entry per predicate: its rows, and its chart's lines where it is charted."""
    entries = []
    for (subject, predicate), group in groupby(
        sensitivity.to_pylist(), key=lambda row: (row["subject"], row["predicate"])
    ):
        rows = list(group)
        low = min(row["minfrac"] for row in rows)
        columns = ("correct", "guess", "false_positives")
        entries.append(
            {
                "subject": subject,
                "predicate": predicate,
                "rows": rows,
                "charted": predicate in CHARTED[subject],
                "low": low,
                "lines": {column: charts.line(rows, column, low) for column in columns},
            }
        )
    return entries


def _box_row(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "name": component_text(row["name"])}


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}%"


def _bytes(value: float) -> str:
    units: Sequence[str] = ("B", "KiB", "MiB", "GiB", "TiB")
    power = 0
    while value >= 1024 and power < len(units) - 1:
        value, power = value / 1024, power + 1
    return f"{value:.4g} {units[power]}"


def _seconds(value: float) -> str:
    for size, unit in ((86_400, "days"), (3600, "h"), (60, "min")):
        if value >= size:
            return f"{value / size:.4g} {unit}"
    return f"{value:.4g} s"
