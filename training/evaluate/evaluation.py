"""Accuracy of a trained model on unseen files and names (thesis 6.3.5)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools
from birthmark.data.common.percentages import percent
from birthmark.data.schema import field
from birthmark.predictor import TrainedModel
from birthmark.predictor.answers.point import Point
from birthmark.training.evaluate.cases import Case, cases, labelled
from birthmark.training.evaluate.metrics import INTERVALS, brier, counts, intervals
from birthmark.training.evaluate.parallel import by_kind
from birthmark.training.statistics.bootstrap import DAY, SEED
from birthmark.training.statistics.standing import Standing, of_test

__all__ = ["EVALUATION", "STANDING", "TABLE_6_5", "evaluate", "rows_of", "score", "tabulate"]

TABLE_6_5 = [
    field("subject", pa.utf8(), "subject of the predicate: file or name", nullable=False),
    field("predicate", pa.utf8(), "its name, as in Tables 6.4 to 6.8", nullable=False),
    field("model", pa.utf8(), "the kind of model", nullable=False),
    field("n", pa.int64(), "rows with a known answer: all that is tested", nullable=False),
    field("n_unknown", pa.int64(), "rows without a known answer", nullable=False),
    field("n_true", pa.int64(), "rows that satisfied the predicate", nullable=False),
    field("n_correct", pa.int64(), "correct predictions", nullable=False),
    field("n_true_positive", pa.int64(), "correct predictions of YES", nullable=False),
    field("n_false_positive", pa.int64(), "wrong predictions of YES", nullable=False),
    field("correct", pa.float64(), "n_correct, percent of n"),
    field("occurs", pa.float64(), "n_true, percent of n"),
    field("guess", pa.float64(), "accuracy of the training data's majority answer, percent"),
    field(
        "delta_error",
        pa.float64(),
        "error reduction against the guess, percent of its errors; null if the guess makes none",
    ),
    field("incorrect", pa.float64(), "100 less correct, percent"),
    field("false_positives", pa.float64(), "n_false_positive, percent of n"),
    field("true_positives", pa.float64(), "n_true_positive, percent of n"),
    field("precision", pa.float64(), "n_true_positive, percent of all predictions of YES"),
    field("recall", pa.float64(), "n_true_positive, percent of n_true"),
]
"""Columns from the answers alone: those of Table 6.5, and their counts."""

STANDING = field(
    "standing",
    pa.utf8(),
    "standing of the bound: holds, not enough seen, above it today, or shown broken; null without"
    " a bound, or if the model abstains",
)

_ENDS = {"low": "lower", "high": "upper"}

EVALUATION = pa.schema(
    [
        *TABLE_6_5[:3],
        field(
            "point",
            pa.utf8(),
            "operating point: accurate (fewest errors), or bounded (few false positives)",
            nullable=False,
        ),
        field("threshold", pa.float64(), "the least score for a YES; null: never"),
        field("bound", pa.float64(), "bound on false positives, percent of n"),
        field(
            "abstained",
            pa.bool_(),
            "whether the model abstains, because no threshold kept the bound",
            nullable=False,
        ),
        *TABLE_6_5[3:],
        field("brier", pa.float64(), "mean squared difference of score and truth, 0 to 1"),
        *(
            field(f"{name}_{end}", pa.float64(), f"{word} end of its 95% confidence interval")
            for name in INTERVALS
            for end, word in _ENDS.items()
        ),
        field("blocks", pa.int64(), "blocks of time in the bootstrap", nullable=False),
        field("block_seconds", pa.int64(), "length of each block, seconds", nullable=False),
        field("seed", pa.int64(), "seed of the bootstrap", nullable=False),
        field("broken", pa.bool_(), "whether the bound is shown broken"),
        STANDING,
    ]
)
"""One row per predicate, kind of model and operating point.

A percentage of nothing is null, and so are columns about a bound without one.
"""


def score(truth: pa.BooleanArray, predicted: pa.BooleanArray, guess: bool) -> dict[str, Any]:
    """Return the columns of `TABLE_6_5` for one set of predictions.

    `truth` is null for unknown answers; those rows count only in `n_unknown`. `guess` is the
    training data's majority answer.
    """
    known = truth.is_valid()
    true, answers = (
        answers.filter(known).to_numpy(zero_copy_only=False).astype(bool)
        for answers in (truth, predicted)
    )
    return {"n_unknown": truth.null_count, **counts(true, answers, guess)}


def evaluate(model: TrainedModel, files: pa.Table, names: pa.Table, seed: int = SEED) -> pa.Table:
    """Test every predicate of `model`, with each of its kinds, on a period's lives.

    `files` and `names` are tables of `data.schema`; only their births count. `seed` is that of the
    confidence intervals. Returns a table of `EVALUATION`.
    """
    tests = by_kind(_evaluate, model, files, names, seed)
    return tabulate(row for tables in tests for row in tables["evaluation"].to_pylist())


def _evaluate(
    model: TrainedModel, files: pa.Table, names: pa.Table, seed: int
) -> dict[str, pa.Table]:
    test = labelled(model.predicates, files, names, model.creates)
    rows = (row for case in cases(model, test) for row in rows_of(case, seed))
    return {"evaluation": tabulate(rows)}


def rows_of(case: Case, seed: int = SEED) -> list[dict[str, Any]]:
    """Return a case's rows, one per operating point."""
    return [_row(case, point, seed) for point in case.thresholds]


def tabulate(rows: Iterable[dict[str, Any]]) -> pa.Table:
    """Return the rows of all cases as a table of `EVALUATION`, predicate by predicate."""
    found = list(rows)
    order = list(dict.fromkeys((row["subject"], row["predicate"]) for row in found))
    found.sort(key=lambda row: order.index((row["subject"], row["predicate"])))
    return pa.Table.from_pylist(found, schema=EVALUATION)


def _row(case: Case, point: Point, seed: int) -> dict[str, Any]:
    answers, blocks = case.answers_at(point), case.blocks
    bounded = point == "bounded"
    abstained = bounded and case.thresholds[point] is None
    stands = _standing(case, answers) if bounded and not abstained else None
    return {
        **case.names,
        "point": point,
        "threshold": case.thresholds[point],
        "bound": percent(case.bound, 1) if bounded else None,
        "abstained": abstained,
        "n_unknown": len(case.known) - len(case.truth),
        **counts(case.truth, answers, case.guess),
        "brier": brier(case.truth, case.scores),
        **intervals(case.truth, answers, case.scores, blocks, seed),
        "blocks": blocks.count,
        "block_seconds": blocks.seconds if blocks.count else DAY,
        "seed": seed,
        "broken": None if stands is None else stands is Standing.BROKEN,
        "standing": stands,
    }


def _standing(case: Case, answers: Bools) -> Standing:
    alarms = case.blocks.sums(answers & ~case.truth)
    every = case.blocks.sums(np.ones(len(case.truth)))
    return of_test(case.bound, alarms, every, case.blocks.seconds)
