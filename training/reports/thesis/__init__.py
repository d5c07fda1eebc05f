"""The published figures of thesis Tables 6.5 to 6.8 and 6.16."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

TRACES = ("CAMPUS", "DEAS03", "EECS03")
"""The servers that the thesis predicts."""


def accuracy() -> pd.DataFrame:
    """Return Tables 6.5 to 6.8: a row for each subject, trace and predicate, in percent."""
    return _read("accuracy.csv")


def side_by_side() -> pd.DataFrame:
    """Return Table 6.16: the accuracy of ``able`` and of ``name``, in percent."""
    return _read("able.csv")


def _read(name: str) -> pd.DataFrame:
    return pd.read_csv(Path(__file__).with_name(name), comment="#")
