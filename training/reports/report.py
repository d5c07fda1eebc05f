"""The HTML report: training data and accuracy of a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pyarrow as pa
from jinja2 import PackageLoader

from birthmark.data.common.percentages import shown
from birthmark.data.common.sizes import in_words
from birthmark.features.components import component_text
from birthmark.predictor.answers.point import Point
from birthmark.training.evaluate.assessment import Assessment
from birthmark.training.evaluate.three_answers import of_served
from birthmark.training.reports import charts
from birthmark.training.reports.bounded import abstentions, bounded_tables, failures, known_bounds
from birthmark.training.reports.environment import pages
from birthmark.training.reports.labels import SUBJECTS, titles
from birthmark.training.reports.verdict import Verdict
from birthmark.training.statistics.standing import BURST

CHARTED = {
    "file": ("lock", "size=zero", "0<size<=16k", "lifespan<=5"),
    "name": ("lock", "lifespan<=5"),
}
"""The predicates of Tables 6.9 to 6.14."""


def render(
    about: Mapping[str, Mapping[str, str]],
    verdict: Verdict | None,
    served: str,
    point: Point,
    assessment: Assessment,
    sensitivity: pa.Table,
    distributions: pa.Table,
) -> str:
    """Return the self-contained page, deterministically.

    `about` has lists of label and text by heading, and `verdict` comes first; `served` is the kind
    of model that answers, at ``point``. The tables are of `SENSITIVITY` and `DISTRIBUTIONS`.
    """
    evaluation = assessment.evaluation
    kinds = titles(evaluation["model"].to_pylist())
    rows = distributions.to_pylist()
    boxes = [{**row, "name": component_text(row["name"])} for row in rows]
    end, label = charts.lifespan_axis([row["lifespan"] for row in boxes])
    for row in boxes:
        row["size_marks"] = charts.size_box(row["size"])
        row["lifespan_marks"] = charts.lifespan_box(row["lifespan"], end)
    return page(
        "report.html.j2",
        about=about,
        verdict=verdict,
        kinds=dict(sorted(kinds.items(), key=lambda each: each[0] != served)),
        accuracy=_accuracy(evaluation),
        answers=of_served(assessment.answers, served, point),
        reliability=_reliability(assessment.reliability, served),
        served=served,
        promise=_promise(evaluation),
        bounded=bounded_tables(evaluation),
        known=known_bounds(evaluation, served),
        abstained=abstentions(evaluation),
        curves=_curves(assessment.curves),
        failures=failures(assessment.breakdown),
        sensitivity=_sensitivity(sensitivity),
        boxes=boxes,
        lifespan_end=label,
        show_bytes=_bytes,
        show_seconds=_seconds,
    )


def page(template: str, **content: Any) -> str:
    """Return a page from `templates`, in the common style."""
    environment = pages(PackageLoader("birthmark.training.reports"))
    environment.filters |= {"percent": shown, "duration": _seconds, "bytes": in_words}
    environment.globals |= {"subjects": SUBJECTS, "least_block": BURST}
    return environment.get_template(template).render(**content)


def _reliability(reliability: pa.Table, served: str) -> list[dict[str, Any]]:
    """Return the served kind's bins, with their places in percent of both axes."""
    rows = [row for row in reliability.to_pylist() if row["model"] == served]
    return [{**row, "x": 100 * row["likely"], "y": 100 - 100 * row["share"]} for row in rows]


def _accuracy(evaluation: pa.Table) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each subject's table: one per predicate, with every model's figures."""
    tables: dict[str, list[dict[str, Any]]] = {}
    accurate = (row for row in evaluation.to_pylist() if row["point"] == "accurate")
    for (subject, _), group in groupby(accurate, key=lambda r: (r["subject"], r["predicate"])):
        rows = list(group)
        most, least = (extreme(row["n_correct"] for row in rows) for extreme in (max, min))
        for row in rows:
            row["best"] = row["n_correct"] == most > least
            row["worse"] = row["n"] > 0 and row["correct"] < row["guess"]
        tables.setdefault(subject, []).append(
            {**rows[0], "of": {row["model"]: row for row in rows}}
        )
    return tables


def _promise(evaluation: pa.Table) -> dict[str, Any] | None:
    """Return the bound on false positives, and the parameters of the intervals."""
    rows = (row for row in evaluation.to_pylist() if row["point"] == "bounded" and row["n"])
    return next(rows, None)


CURVES = {
    "calibration": (("calibration",), "score", "observed frequency"),
    "precision over recall": (("precision",), "recall", "precision"),
    "cost by the price of a false positive": (
        ("cost", "cost_constant"),
        "misses as bad as a false positive",
        "share of the greatest cost",
    ),
}
"""The charts of each predicate in `CHARTED`: curves and labels of axes."""


def _curves(curves: pa.Table) -> list[dict[str, Any]]:
    """Return a chart for each of `CURVES` and each file predicate of `CHARTED`, by predicate."""
    rows = [row for row in curves.to_pylist() if row["subject"] == "file"]
    found = []
    for predicate in CHARTED["file"]:
        own = [row for row in rows if row["predicate"] == predicate]
        for title, (kinds_of_curve, across, up) in CURVES.items():
            lines = [
                (kind, name, [r for r in own if (r["model"], r["curve"]) == (kind, name)])
                for name in kinds_of_curve
                for kind in titles(row["model"] for row in own)
            ]
            drawn = [
                (name if name == "cost_constant" else kind, charts.curve(points, "cost" in name))
                for kind, name, points in lines
                if points
            ]
            if drawn:
                # the constant answers do not depend on the model
                chart = {"predicate": predicate, "title": title, "across": across, "up": up}
                found.append(chart | {"lines": dict(drawn)})
    return found


def _sensitivity(sensitivity: pa.Table) -> list[dict[str, Any]]:
    """Return one entry per predicate: its rows, and its chart's lines if it is charted."""
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
