"""Results as tables for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from statistics import mean
from typing import Any

import pyarrow as pa
from rich import box
from rich.table import Table
from rich.text import Text

from birthmark.data.common.percentages import percent, shown
from birthmark.training.reports.labels import SUBJECTS
from birthmark.training.statistics.standing import STYLES, Standing

Row = dict[str, Any]

_COLUMNS = {
    "Correct": "correct",
    "Occurs": "occurs",
    "Guess": "guess",
    "Δ-error": "delta_error",
    "FalsePos": "false_positives",
}
_SERVED = ("Correct", "Guess", "Yes", "No", "Unsure", "Right", "FalsePos", "FalseNeg")
_WORDS = ("Predicate", "Model", "bound", "bound of yes", "bound of no")


def served_tables(rows: Iterable[Row], answers: Mapping[str, list[Row]]) -> list[Table]:
    """Return a table of the served kind's accuracy for each subject.

    `rows` are its rows of `EVALUATION`, `answers` those of `ANSWERS` by subject. Correct is green
    if it is above the guess, red if below; false positives and negatives have the style of their
    standing.
    """
    by_predicate = {
        (row["subject"], row["predicate"]): row for own in answers.values() for row in own
    }
    tables = []
    accurate = (row for row in rows if row["point"] == "accurate")
    for subject, group in groupby(accurate, key=lambda row: str(row["subject"])):
        table = _table(SUBJECTS[subject], "Predicate", *_SERVED)
        table.padding = 0
        for row in group:
            shares = [_percent(row["correct"]), _percent(row["guess"])]
            shares[0].stylize(_style(row["correct"], row["guess"]))
            own = by_predicate.get((row["subject"], row["predicate"]))
            table.add_row(Text(row["predicate"]), *shares, *(_three(own) if own else ()))
        tables.append(table)
    return tables


def _three(row: Row) -> list[Text]:
    """Return the shares of yes, no and unsure, their accuracy and their errors."""
    yes, no, unsure = (percent(row[n], row["n"]) for n in ("n_yes", "n_no", "n_unsure"))
    found = [_percent(share) for share in (yes, no, unsure, row["right"])]
    for name, known in (("false_positives", "standing"), ("false_negatives", "no_standing")):
        share = _percent(row[name])
        if row[known] in (Standing.ABOVE, Standing.BROKEN):
            share.stylize(STYLES[Standing(row[known])])
        found.append(share)
    return found


def bounds_tables(answers: Mapping[str, list[Row]]) -> list[Table]:
    """Return a table of the standing of the served kind's bounds for each subject.

    `answers` are rows of `ANSWERS` by subject. The columns are the 95% intervals of false positives
    and negatives, each before the standing of its bound.
    """
    headings = ("FalsePos, 95%", "bound of yes", "FalseNeg, 95%", "bound of no")
    tables = []
    for subject, rows in answers.items():
        table = _table(f"{SUBJECTS[subject]}: bounds", "Predicate", *headings)
        for row in rows:
            table.add_row(
                Text(row["predicate"]),
                _interval(row, "false_positives"),
                styled(row["standing"]),
                _interval(row, "false_negatives"),
                styled(row["no_standing"]),
            )
        tables.append(table)
    return tables


def accuracy_tables(evaluation: pa.Table) -> list[Table]:
    """Return tables of all models at both operating points, for each subject.

    The first has the columns of the thesis's Table 6.5; a figure below the guess is red, one above
    green. The second has the bounded operating point with 95% confidence intervals, the third its
    other figures.
    """
    tables = []
    for subject, group in groupby(evaluation.to_pylist(), key=lambda row: str(row["subject"])):
        rows, title = list(group), f"{SUBJECTS[subject]}, all models"
        bounded = [row for row in rows if row["point"] == "bounded"]
        tables.append(_accurate(title, [row for row in rows if row["point"] == "accurate"]))
        tables += [_bounded(title, bounded), _precision(title, bounded)] if bounded else []
    return tables


def windows_table(windows: pa.Table) -> Table:
    """Return a table of means over the predicates of files, for each window and model."""
    headings = ("Window", "Days", "Model", "Incorrect", "TruePos", "FalsePos", "Brier")
    table = _table("Means over the predicates of files", *headings)
    rows = [row for row in windows.to_pylist() if row["subject"] == "file" and row["n"]]
    keys = dict.fromkeys((row["window"], row["days"], row["model"]) for row in rows)
    for window, days, model in keys:
        own = [row for row in rows if (row["window"], row["model"]) == (window, model)]
        accurate = [row for row in own if row["point"] == "accurate"]
        bounded = [row for row in own if row["point"] == "bounded"]
        shares = (
            _percent(mean(row[column] for row in at))
            for at, column in (
                (accurate, "incorrect"),
                (bounded, "true_positives"),
                (bounded, "false_positives"),
            )
        )
        brier = f"{mean(row['brier'] for row in accurate):.4f}"
        table.add_row(str(window), str(days), model, *shares, brier)
    return table


def _accurate(title: str, rows: list[Row]) -> Table:
    table = _table(title, "Predicate", "Model", *_COLUMNS, "n")
    for row in rows:
        cells = [_percent(row[column]) for column in _COLUMNS.values()]
        cells[0].stylize(_style(row["correct"], row["guess"]))
        table.add_row(Text(row["predicate"]), row["model"], *cells, f"{row['n']:,}")
    return table


def _bounded(title: str, rows: list[Row]) -> Table:
    title = f"{title}, false positives at most {rows[0]['bound']:g}% of all"
    table = _table(title, "Predicate", "Model", "TruePos, 95%", "FalsePos, 95%", "bound")
    for row in rows:
        cells = (_with_interval(row, name) for name in ("true_positives", "false_positives"))
        table.add_row(Text(row["predicate"]), row["model"], *cells, _remark(row))
    return table


def _precision(title: str, rows: list[Row]) -> Table:
    headings = ("Occurs", "Precision", "Recall", "Brier", "unknown")
    table = _table(f"{title}, at the same bound", "Predicate", "Model", *headings)
    for row in rows:
        cells = (_percent(row[column]) for column in ("occurs", "precision", "recall"))
        brier = "–" if row["brier"] is None else f"{row['brier']:.4f}"
        known = brier, f"{row['n_unknown']:,}"
        table.add_row(Text(row["predicate"]), row["model"], *cells, *known)
    return table


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False)
    table.padding = (0, 1, 0, 0)
    table.pad_edge = False
    for heading in headings:
        justify: Any = "left" if heading in _WORDS else "right"
        table.add_column(heading, justify=justify, no_wrap=heading != "Predicate")
    return table


def _interval(row: Row, column: str) -> Text:
    low, high = row[f"{column}_low"], row[f"{column}_high"]
    return Text("–" if low is None else f"{low:.2f}–{high:.2f}")


def _with_interval(row: Row, column: str) -> Text:
    text = _percent(row[column])
    return text if row[f"{column}_low"] is None else text.append(f" {_interval(row, column)}")


def _remark(row: Row) -> Text:
    """Return a remark: that the model abstains, or the standing of its bound."""
    return Text("abstains") if row["abstained"] else styled(row["standing"])


def styled(standing: str | None) -> Text:
    """Return a `Standing` in its style; nothing without a bound."""
    return Text(standing, STYLES[Standing(standing)]) if standing else Text("")


def _percent(value: float | None) -> Text:
    return Text(shown(value))


def _style(correct: float | None, guess: float | None) -> str:
    if correct is None or guess is None or correct == guess:
        return ""
    return "green" if correct > guess else "red"
