"""Why a forest scores a row as it does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from birthmark.data.common.arrays import Bytes, Floats
from birthmark.features import component_text
from birthmark.features.encoding import CODED, COLUMNS
from birthmark.predictor.models.forest.forest import Forest, bent

REASONS = 3
"""How many columns are named, at most: what a line of a terminal has room for."""


def evidence_of(
    forest: Forest, row: Bytes, create: Mapping[str, Any]
) -> list[tuple[float, dict[str, Any]]]:
    """Return for each output the score of ``row`` and the evidence, as JSON can carry it.

    ``create`` is the create that was encoded as ``row``. The evidence: ``share``, the score, which
    is the share of yes to expect; ``rows``, the training rows in a leaf, on average;
    ``usual``, what the score would be if nothing were known: the share of yes at the roots; and
    ``because``, the columns that moved the score most from there to ``share``, strongest first:
    ``column``, ``value``, and ``by``, the part that the splits on this column had in it. The parts
    of all columns add up to ``share - usual``, but for what is bent at 0 and 1 (Saabas,
    "Interpreting random forests", 2014).
    """
    trees, usual = len(forest.roots), bent(forest.base + forest.means[forest.roots].sum(axis=0))
    moved, share, rows = np.zeros((forest.width, forest.outputs)), forest.base.copy(), 0
    for way in forest.walk(row):
        means = forest.means[[*way.splits, way.leaf]]
        np.add.at(moved, forest.column[list(way.splits)], np.diff(means, axis=0))
        share += means[-1]
        rows += int(forest.rows[way.leaf])
    share = bent(share)
    known = {"rows": round(rows / trees)}
    return [
        (
            float(share[output]),
            {"share": float(share[output]), "usual": float(usual[output])}
            | known
            | {"because": _because(moved[:, output], row, create)},
        )
        for output in range(forest.outputs)
    ]


def _because(moved: Floats, row: Bytes, create: Mapping[str, Any]) -> list[dict[str, Any]]:
    strongest = np.argsort(-np.abs(moved), kind="stable")[:REASONS]
    return [
        {
            "column": COLUMNS[c],
            "value": _value(COLUMNS[c], int(row[c]), create),
            "by": float(moved[c]),
        }
        for c in strongest.tolist()
        if moved[c]
    ]


def _value(column: str, byte: int, create: Mapping[str, Any]) -> Any:
    """Return what is shown of a column: the value that was coded, or the byte."""
    if column not in CODED:
        return byte
    if column in create:
        return create[column]
    name = create["name"] or b""
    return component_text(name if column == "shape" else name[name.rfind(b".") :])
