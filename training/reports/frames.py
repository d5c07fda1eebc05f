"""The thesis's tables of accuracy as DataFrames, to compute with and to draw."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pyarrow as pa

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
    """Return the table of one kind of models in the form of Tables 6.5 to 6.7, in percent.

    With the subject ``name`` it is in that of Table 6.8. A row is a predicate; what is a percentage
    of nothing is missing.
    """
    rows = _accurate(evaluation, subject)
    own = rows[rows["model"] == model].set_index("predicate")
    return own[list(TABLE_6_5)].rename(columns=TABLE_6_5).rename_axis("Predicate")


def side_by_side(
    evaluation: pa.Table, subject: str = "file", models: Sequence[str] = ("able", "name")
) -> pd.DataFrame:
    """Return what is correct by each of ``models``, in the form of Table 6.16, in percent."""
    rows = _accurate(evaluation, subject)
    wide = rows.pivot(index="predicate", columns="model", values="correct")
    order = list(dict.fromkeys(rows["predicate"]))
    return wide.loc[order, list(models)].rename_axis(index="Predicate", columns=None)


def _accurate(evaluation: pa.Table, subject: str) -> pd.DataFrame:
    rows: pd.DataFrame = evaluation.to_pandas()
    return rows[(rows["subject"] == subject) & (rows["point"] == "accurate")]
