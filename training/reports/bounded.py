"""The report's section on the bounded operating point."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.training.reports import charts
from birthmark.training.statistics.standing import in_words, over

Row = dict[str, Any]


def bounded_tables(evaluation: pa.Table) -> dict[str, list[Row]]:
    """Return the rows of each subject's table: one per predicate, with every model's figures.

    `best` is the model with most true positives within the bound; `marks` are the marks of the
    drawing, in percent of an axis from 0 to 100%.
    """
    tables: dict[str, list[Row]] = {}
    rows = [row for row in evaluation.to_pylist() if row["point"] == "bounded"]
    for (subject, _), group in groupby(rows, key=lambda row: (row["subject"], row["predicate"])):
        own = list(group)
        most = max((row["n_true_positive"] for row in own if _within(row)), default=0)
        for row in own:
            row["best"] = row["n_true_positive"] == most > 0 and _within(row)
            row["marks"] = charts.whisker(row, "true_positives")
        tables.setdefault(subject, []).append({**own[0], "of": {row["model"]: row for row in own}})
    return tables


def _within(row: Row) -> bool:
    return row["false_positives"] is not None and row["false_positives"] <= row["bound"]


@dataclass(frozen=True)
class Known:
    """The standing of a `model`'s bounds, `in_words`.

    `over` are the rows above their bound (`training.statistics.standing.over`).
    """

    model: str
    in_words: str
    over: list[Mapping[str, Any]]


def known_bounds(evaluation: pa.Table, served: str) -> list[Known]:
    """Return the standing of each model's bounds, the `served` one first."""
    models = dict.fromkeys(evaluation["model"].to_pylist())
    rows = [row for row in evaluation.to_pylist() if row["standing"]]
    return [
        _known(model, [row for row in rows if row["model"] == model])
        for model in sorted(models, key=lambda model: model != served)
    ]


def _known(model: str, rows: list[Row]) -> Known:
    return Known(model, in_words(rows), over(rows))


def abstentions(evaluation: pa.Table) -> dict[str, list[str]]:
    """Return the predicates that each model abstains from, names after files."""
    found: dict[str, list[str]] = {}
    for row in evaluation.to_pylist():
        if row["abstained"]:
            whose = {"file": "", "name": " of names", "directory": " of directories"}
            found.setdefault(row["model"], []).append(row["predicate"] + whose[row["subject"]])
    return found


def failures(breakdown: pa.Table) -> dict[str, list[Row]]:
    """Return one row per group by grouping, with each model's means over the file predicates.

    Means are over predicates with a known answer in the group: `correct` and `guess` at the
    accurate operating point, `true_positives` and `false_positives` at the bounded one, and
    `worst`, the predicate with most false positives. All are in percent of the group's files.
    """
    rows = [row for row in breakdown.to_pylist() if row["subject"] == "file" and row["n"]]
    keyed = sorted(rows, key=lambda row: (row["by"], row["group"], row["model"]))
    tables: dict[str, dict[str, Row]] = {}
    for (by, name, model), group in groupby(
        keyed, key=lambda row: (row["by"], row["group"], row["model"])
    ):
        own = list(group)
        entry = tables.setdefault(by, {}).setdefault(name, {"group": name, "n": 0, "of": {}})
        entry["n"] = max(entry["n"], *(row["n"] for row in own))
        entry["of"][model] = _means(own)
    return {
        by: sorted(tables[by].values(), key=lambda entry: (_last(entry["group"]), -entry["n"]))
        for by in ("user", "client", "depth")
        if by in tables
    }


def _last(group: str) -> int:
    return ("other", "unknown").index(group) + 1 if group in ("other", "unknown") else 0


def _means(rows: Iterable[Row]) -> Row:
    rows = list(rows)
    accurate = [row for row in rows if row["point"] == "accurate"]
    bounded = [row for row in rows if row["point"] == "bounded"]
    means = {name: _mean(accurate, name) for name in ("correct", "guess")}
    means |= {name: _mean(bounded, name) for name in ("true_positives", "false_positives")}
    worst = max(bounded, key=lambda row: row["false_positives"], default=None)
    worse = None not in means.values() and means["correct"] < means["guess"]  # type: ignore[operator]
    return {**means, "worst": worst, "worse": worse}


def _mean(rows: Iterable[Row], column: str) -> float | None:
    values = [row[column] for row in rows if row[column] is not None]
    return float(np.mean(values)) if values else None
