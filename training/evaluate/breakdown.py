"""Breakdown of a model's figures by user, client and depth of directory."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Ints
from birthmark.data.common.percentages import percent
from birthmark.data.schema import field
from birthmark.training.evaluate.depth import depths
from birthmark.training.evaluate.evaluation import TABLE_6_5

MOST = 10
"""Greatest number of groups; the rows of smaller ones form the group `other`."""

BREAKDOWN = pa.schema(
    [
        *TABLE_6_5[:3],
        field("point", pa.utf8(), "the operating point: accurate or bounded", nullable=False),
        field("by", pa.utf8(), "grouping: user, client or depth", nullable=False),
        field(
            "group",
            pa.utf8(),
            "the caller's user or host, or the depth below the root; other: smaller groups"
            " groups; unknown",
            nullable=False,
        ),
        field("n", pa.int64(), "rows of the group with a known answer", nullable=False),
        field("n_true", pa.int64(), "rows that satisfied the predicate", nullable=False),
        field("n_correct", pa.int64(), "correct predictions", nullable=False),
        field("n_true_positive", pa.int64(), "correct predictions of YES", nullable=False),
        field("n_false_positive", pa.int64(), "wrong predictions of YES", nullable=False),
        field("correct", pa.float64(), "n_correct, percent of n"),
        field("guess", pa.float64(), "accuracy of the training data's majority answer, percent"),
        field("false_positives", pa.float64(), "n_false_positive, percent of n"),
        field("true_positives", pa.float64(), "n_true_positive, percent of n"),
    ]
)
"""One row per predicate, kind of model, point and group; a grouping's counts add up to all rows."""


@dataclass(frozen=True)
class Grouping:
    """A grouping of rows: its name `by`, the groups' names, and the group index of each row."""

    by: str
    names: list[str]
    of_row: Ints


def groupings(lives: pa.Table, files: pa.Table, most: int = MOST) -> list[Grouping]:
    """Return the groupings of `lives`, rows of a files or names table.

    `files` is the files table with the directories' rows. Only the `most` largest groups are
    separate.
    """
    deep = depths(lives, files)
    found = {
        "user": lives["uid"],
        "client": lives["client"],
        "depth": pa.array(deep, mask=deep < 0),
    }
    return [grouping(by, values, most) for by, values in found.items()]


def grouping(by: str, values: pa.Array | pa.ChunkedArray, most: int = MOST) -> Grouping:
    """Return rows grouped by `values`; only the `most` frequent ones are separate."""
    text = pc.fill_null(pc.cast(values, pa.utf8()), "unknown")
    encoded = pa.chunked_array([text]) if isinstance(text, pa.Array) else text
    encoded = encoded.combine_chunks().dictionary_encode()
    names, codes = encoded.dictionary.to_pylist(), encoded.indices.to_numpy().astype(np.int64)
    order = np.argsort(-np.bincount(codes, minlength=len(names)), kind="stable")
    # A single smaller group keeps its name.
    shown = order if len(order) <= most + 1 else order[:most]
    number = np.full(len(names), len(shown))
    number[shown] = np.arange(len(shown))
    others = ["other"] if len(shown) < len(order) else []
    return Grouping(by, [names[code] for code in shown] + others, number[codes])


def break_down(
    grouping: Grouping, known: Bools, truth: Bools, answers: Bools, guess: bool
) -> Iterable[dict[str, Any]]:
    """Return the rows of `BREAKDOWN` for `answers`, without the columns that name them.

    `known` selects the rows of `truth` and `answers`, and `guess` is the training data's majority
    answer.
    """
    of_row = grouping.of_row[known]

    def count(rows: Bools) -> Ints:
        return np.bincount(of_row[rows], minlength=len(grouping.names))

    everything = np.ones(len(truth), bool)
    columns = (
        everything,
        truth,
        truth == answers,
        truth & answers,
        ~truth & answers,
        truth == guess,
    )
    for name, *numbers in zip(grouping.names, *map(count, columns), strict=True):
        n, true, correct, hits, alarms, guessed = map(int, numbers)
        yield {
            "by": grouping.by,
            "group": name,
            "n": n,
            "n_true": true,
            "n_correct": correct,
            "n_true_positive": hits,
            "n_false_positive": alarms,
            "correct": percent(correct, n),
            "guess": percent(guessed, n),
            "false_positives": percent(alarms, n),
            "true_positives": percent(hits, n),
        }
