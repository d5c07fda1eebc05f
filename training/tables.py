"""Results as tables for a terminal."""

from __future__ import annotations

from itertools import groupby

import pyarrow as pa
from rich import box
from rich.table import Table
from rich.text import Text

_COLUMNS = {
    "Correct": "correct",
    "Occurs": "occurs",
    "Guess": "guess",
    "Δ-error": "delta_error",
    "Incorrect": "incorrect",
    "FalsePos": "false_positives",
}
_TITLES = {"file": "File predictions", "name": "Name predictions"}


def accuracy_tables(evaluation: pa.Table, note: str = "") -> list[Table]:
    """Return one table per subject with the columns of the thesis's Table 6.5, and the counts.

    `note` is added to their titles.

    A model that does worse than the guess has its figure in red, one that does better in green.
    """
    tables = []
    for subject, rows in groupby(evaluation.to_pylist(), key=lambda row: str(row["subject"])):
        title = ", ".join(filter(None, (_TITLES[subject], note)))
        table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD)
        table.padding = (0, 1, 0, 0)
        table.add_column("Predicate", no_wrap=True)
        table.add_column("Model", no_wrap=True)
        for heading in (*_COLUMNS, "n", "unknown"):
            table.add_column(heading, justify="right", no_wrap=True)
        for row in rows:
            cells = [_percent(row[column]) for column in _COLUMNS.values()]
            cells[0].stylize(_style(row["correct"], row["guess"]))
            counts = (f"{row[column]:,}" for column in ("n", "n_unknown"))
            table.add_row(Text(row["predicate"]), row["model"], *cells, *counts)
        tables.append(table)
    return tables


def _percent(value: float | None) -> Text:
    return Text("–" if value is None else f"{value:.2f}%")


def _style(correct: float | None, guess: float | None) -> str:
    if correct is None or guess is None or correct == guess:
        return ""
    return "green" if correct > guess else "red"
