"""The thesis's tables of accuracy as DataFrames, to compute with and to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import pyarrow as pa

from birthmark.data.common.choices import expect
from birthmark.training.reports import thesis

TABLE_6_5 = {
    "correct": "Correct",
    "occurs": "Occurs",
    "guess": "Guess",
    "delta_error": "Δ-Error",
    "incorrect": "Incorrect",
    "false_positives": "FalsePos",
}
"""The columns of Tables 6.5 to 6.8, by those of ``training.evaluate.evaluation.EVALUATION``."""


def accuracy(evaluation: pa.Table, subject: str = "file", model: str = "name") -> pd.DataFrame:
    """Return the table of one kind of model in the form of Tables 6.5 to 6.7, in percent.

    With the subject ``name``, the form is that of Table 6.8. A row is a predicate; a percentage of
    nothing is missing.
    """
    rows = _accurate(evaluation, subject)
    own = rows[rows["model"] == model].set_index("predicate")
    return own[list(TABLE_6_5)].rename(columns=TABLE_6_5).rename_axis("Predicate")


def side_by_side(
    evaluation: pa.Table, subject: str = "file", models: Sequence[str] = ("able", "name")
) -> pd.DataFrame:
    """Return the accuracy of each of ``models`` in the form of Table 6.16, in percent."""
    rows = _accurate(evaluation, subject)
    wide = rows.pivot(index="predicate", columns="model", values="correct")
    order = list(dict.fromkeys(rows["predicate"]))
    return wide.loc[order, list(models)].rename_axis(index="Predicate", columns=None)


def thesis_accuracy(trace: str, subject: str = "file") -> pd.DataFrame:
    """Return the thesis's figures for CAMPUS, DEAS03 or EECS03, in the form of ``accuracy``.

    They are Table 6.5, 6.6 or 6.7; for the subject ``name``, the trace's part of Table 6.8. Raises
    ``ValueError`` for another trace.
    """
    printed = thesis.accuracy()
    own = printed[printed["subject"] == subject].set_index("predicate")
    return _of(trace, own)[list(TABLE_6_5)].rename(columns=TABLE_6_5).rename_axis("Predicate")


def thesis_side_by_side(trace: str) -> pd.DataFrame:
    """Return the thesis's Table 6.16 for a trace, in the form of ``side_by_side``.

    Raises ``ValueError`` as ``thesis_accuracy`` does.
    """
    own = thesis.side_by_side().set_index("predicate")
    return _of(trace, own)[["able", "name"]].rename_axis("Predicate")


def beside(tables: Mapping[str, pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    """Return ``columns`` of several tables, with each column of all of them side by side.

    Rows are those of the first table; other tables' missing rows are NaN.
    """
    first = next(iter(tables.values()))
    wide = {(column, name): table[column] for column in columns for name, table in tables.items()}
    return pd.DataFrame(wide).reindex(first.index)


def _of(trace: str, printed: pd.DataFrame) -> pd.DataFrame:
    expect("trace of the thesis", trace, thesis.TRACES)
    return printed[printed["trace"] == trace]


def _accurate(evaluation: pa.Table, subject: str) -> pd.DataFrame:
    rows: pd.DataFrame = evaluation.to_pandas()
    return rows[(rows["subject"] == subject) & (rows["point"] == "accurate")]
