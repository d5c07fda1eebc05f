"""Results as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from statistics import mean
from typing import Any

import pyarrow as pa
from rich import box
from rich.table import Table
from rich.text import Text

from birthmark.data.common.percentages import percent, shown
from birthmark.training.statistics.standing import STYLES, Standing

Row = dict[str, Any]

_COLUMNS = {
    "Correct": "correct",
    "Occurs": "occurs",
    "Guess": "guess",
    "Δ-error": "delta_error",
    "Incorrect": "incorrect",
    "FalsePos": "false_positives",
}
_BOUNDED = ("TruePos, 95%", "FalsePos, 95%", "Occurs", "Precision", "Recall")
_ANSWERS = (
    "Predicate",
    *("Yes", "No", "Unsure", "Right"),
    *("FalsePos, 95%", "bound of yes", "FalseNeg, 95%", "bound of no"),
    *("Likely", "Occurs"),
)
_WORDS = ("Predicate", "Model", "bound of yes", "bound of no", "")
_TITLES = {
    "file": "File predictions",
    "name": "Name predictions",
    "directory": "Directory predictions",
}


def accuracy_tables(evaluation: pa.Table, note: str = "") -> list[Table]:
    """Return for each subject a table for the accurate and one for the bounded threshold.

    `note` is added to their titles. The first has the columns of the thesis's Table 6.5, and the
    counts; a model that does worse than the guess has its figure in red, one that does better in
    green. The second has what a bound on false positives leaves, with 95% confidence intervals.
    """
    tables = []
    for subject, group in groupby(evaluation.to_pylist(), key=lambda row: str(row["subject"])):
        rows = list(group)
        accurate = [row for row in rows if row["point"] == "accurate"]
        bounded = [row for row in rows if row["point"] == "bounded"]
        title = ", ".join(filter(None, (_TITLES[subject], note)))
        tables.append(_accurate(title, accurate))
        tables += [_bounded(title, bounded)] if bounded else []
    return tables


def answers_tables(answers: Mapping[str, list[Row]]) -> list[Table]:
    """Return a table for each subject of what the three answers were worth, of what answers.

    `answers` are rows of `ANSWERS` by subject.
    """
    tables = []
    for subject, rows in answers.items():
        table = _table(f"{_TITLES[subject]}: yes, no or unsure", *_ANSWERS)
        for row in rows:
            yes, no, unsure = (percent(row[n], row["n"]) for n in ("n_yes", "n_no", "n_unsure"))
            table.add_row(
                Text(row["predicate"]),
                *map(_percent, (yes, no, unsure, row["right"])),
                _with_interval(row, "false_positives"),
                styled(row["standing"]),
                _with_interval(row, "false_negatives"),
                styled(row["no_standing"]),
                *map(_percent, (row["likely"], percent(row["n_true"], row["n"]))),
            )
        tables.append(table)
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
    table = _table(title, "Predicate", "Model", *_COLUMNS, "n", "unknown")
    for row in rows:
        cells = [_percent(row[column]) for column in _COLUMNS.values()]
        cells[0].stylize(_style(row["correct"], row["guess"]))
        counts = (f"{row[column]:,}" for column in ("n", "n_unknown"))
        table.add_row(Text(row["predicate"]), row["model"], *cells, *counts)
    return table


def _bounded(title: str, rows: list[Row]) -> Table:
    title = f"{title}, false positives at most {rows[0]['bound']:g}% of all"
    table = _table(title, "Predicate", "Model", *_BOUNDED, "Brier", "")
    for row in rows:
        cells = [_with_interval(row, column) for column in ("true_positives", "false_positives")]
        cells += [_percent(row[column]) for column in ("occurs", "precision", "recall")]
        brier = "–" if row["brier"] is None else f"{row['brier']:.4f}"
        table.add_row(Text(row["predicate"]), row["model"], *cells, brier, _remark(row))
    return table


def _table(title: str, *headings: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
    table.padding = (0, 1, 0, 0)
    for heading in headings:
        table.add_column(heading, justify="left" if heading in _WORDS else "right", no_wrap=True)
    return table


def _with_interval(row: Row, column: str) -> Text:
    low, high = row[f"{column}_low"], row[f"{column}_high"]
    text = _percent(row[column])
    return text if low is None else text.append(f" {low:.2f}–{high:.2f}")


def _remark(row: Row) -> Text:
    """Return what is to be noted: that the model abstains, or what is known of its bound."""
    return Text("abstains") if row["abstained"] else styled(row["standing"])


def styled(standing: str | None) -> Text:
    """Return a `Standing` in its colour; nothing where no bound is promised."""
    return Text(standing, STYLES[Standing(standing)]) if standing else Text("")


def _percent(value: float | None) -> Text:
    return Text(shown(value))


def _style(correct: float | None, guess: float | None) -> str:
    if correct is None or guess is None or correct == guess:
        return ""
    return "green" if correct > guess else "red"
