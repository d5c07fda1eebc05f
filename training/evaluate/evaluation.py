"""How well a trained model predicts files and names that it has not seen (thesis 6.3.5)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Any

import pyarrow as pa

from birthmark.data.common.arrays import Bools
from birthmark.data.common.percentages import percent
from birthmark.data.schema import field
from birthmark.predictor import TrainedModel
from birthmark.predictor.answers.point import Point
from birthmark.training.evaluate.cases import Case, cases, labelled
from birthmark.training.evaluate.metrics import INTERVALS, brier, counts, intervals
from birthmark.training.evaluate.parallel import by_kind
from birthmark.training.statistics import binomial
from birthmark.training.statistics.bootstrap import DAY, SEED
from birthmark.training.statistics.standing import BURST, of_row

__all__ = ["EVALUATION", "STANDING", "TABLE_6_5", "evaluate", "rows_of", "score", "tabulate"]

TABLE_6_5 = [
    field("subject", pa.utf8(), "what the predicate is about: file or name", nullable=False),
    field("predicate", pa.utf8(), "its name, as in Tables 6.4 to 6.8", nullable=False),
    field("model", pa.utf8(), "the kind of model", nullable=False),
    field("n", pa.int64(), "rows whose answer is known: all that is tested", nullable=False),
    field("n_unknown", pa.int64(), "rows whose answer the trace does not tell", nullable=False),
    field("n_true", pa.int64(), "rows that satisfied the predicate", nullable=False),
    field("n_correct", pa.int64(), "predictions that came true", nullable=False),
    field("n_true_positive", pa.int64(), "predictions of YES that came true", nullable=False),
    field("n_false_positive", pa.int64(), "predictions of YES that did not", nullable=False),
    field("correct", pa.float64(), "n_correct, percent of n"),
    field("occurs", pa.float64(), "n_true, percent of n"),
    field("guess", pa.float64(), "what the training data's majority answer gets right, percent"),
    field(
        "delta_error",
        pa.float64(),
        "errors that the guess makes and the model does not, percent of the guess's errors;"
        " null where the guess makes none",
    ),
    field("incorrect", pa.float64(), "100 less correct, percent"),
    field("false_positives", pa.float64(), "n_false_positive, percent of n"),
    field("true_positives", pa.float64(), "n_true_positive, percent of n"),
    field("precision", pa.float64(), "n_true_positive, percent of all predictions of YES"),
    field("recall", pa.float64(), "n_true_positive, percent of n_true"),
]
"""What follows from the answers alone: the columns of Table 6.5, and the counts behind them."""

STANDING = field(
    "standing",
    pa.utf8(),
    "what is known of the bound: holds, not enough seen, above it today, or shown broken; null"
    " where none is promised, or where the model abstains",
)

_ENDS = {"low": "lower", "high": "upper"}

EVALUATION = pa.schema(
    [
        *TABLE_6_5[:3],
        field(
            "point",
            pa.utf8(),
            "the threshold: accurate, right most often, or bounded, false positives kept rare",
            nullable=False,
        ),
        field("threshold", pa.float64(), "the least score that is a YES; null: none is"),
        field("bound", pa.float64(), "false positives that were promised at most, percent of n"),
        field(
            "abstained",
            pa.bool_(),
            "whether no threshold could keep the bound, so that every answer is no",
            nullable=False,
        ),
        *TABLE_6_5[3:],
        field("brier", pa.float64(), "mean squared difference of score and truth, 0 to 1"),
        *(
            field(f"{name}_{end}", pa.float64(), f"{word} end of its 95% confidence interval")
            for name in INTERVALS
            for end, word in _ENDS.items()
        ),
        field("blocks", pa.int64(), "blocks of time that were drawn for it", nullable=False),
        field("block_seconds", pa.int64(), "how long each block is", nullable=False),
        field("seed", pa.int64(), "the seed of the draws", nullable=False),
        field(
            "chance",
            pa.float64(),
            "how likely so many false positives are, or more, if their rate is the bound; null"
            " where blocks are shorter than a minute, so that one burst of files spans many",
        ),
        field(
            "broken",
            pa.bool_(),
            "whether that is too unlikely to be sampling: the bound did not hold",
        ),
        STANDING,
    ]
)
"""One row per predicate, kind of model and point.

A percentage of nothing is null, and so is what needs a bound where there is none.
"""


def score(truth: pa.BooleanArray, predicted: pa.BooleanArray, guess: bool) -> dict[str, Any]:
    """Return the columns of `TABLE_6_5` that follow from one set of predictions.

    `truth` holds null where the answer is unknown; those rows count nowhere else. `guess` is the
    training data's majority answer.
    """
    known = truth.is_valid()
    true, said = (
        answers.filter(known).to_numpy(zero_copy_only=False).astype(bool)
        for answers in (truth, predicted)
    )
    return {"n_unknown": truth.null_count, **counts(true, said, guess)}


def evaluate(model: TrainedModel, files: pa.Table, names: pa.Table, seed: int = SEED) -> pa.Table:
    """Test every predicate of `model`, by every kind of model it holds, on a period's lives.

    `files` and `names` are tables of `data.schema`, of which only the births count; `seed` is that
    of the confidence intervals. Returns a table of `EVALUATION`.
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
    """Return a case's rows, one per point, without what needs the others: `broken`, `standing`."""
    return [_row(case, point, seed) for point in case.thresholds]


def tabulate(rows: Iterable[dict[str, Any]]) -> pa.Table:
    """Return the rows of all cases as a table of `EVALUATION`, predicate by predicate."""
    found = list(rows)
    order = list(dict.fromkeys((row["subject"], row["predicate"]) for row in found))
    kinds = list(dict.fromkeys(row["model"] for row in found))
    for _, own in groupby(sorted(found, key=lambda row: kinds.index(row["model"])), _model):
        _judge([row for row in own if row["bound"] is not None])
    found.sort(key=lambda row: order.index((row["subject"], row["predicate"])))
    return pa.Table.from_pylist(found, schema=EVALUATION)


def _model(row: dict[str, Any]) -> str:
    return str(row["model"])


def _judge(rows: list[dict[str, Any]]) -> None:
    """Say of all bounds of a model, taken together, which are broken, and what is known of each."""
    for row, broken in zip(rows, binomial.broken([row["chance"] for row in rows]), strict=True):
        row["broken"] = broken
        row["standing"] = of_row(row)


def _row(case: Case, point: Point, seed: int) -> dict[str, Any]:
    said, blocks = case.said(point), case.blocks
    bounded = point == "bounded"
    return {
        **case.names,
        "point": point,
        "threshold": case.thresholds[point],
        "bound": percent(case.bound, 1) if bounded else None,
        "abstained": bounded and case.thresholds[point] is None,
        "n_unknown": len(case.known) - len(case.truth),
        **counts(case.truth, said, case.guess),
        "brier": brier(case.truth, case.scores),
        **intervals(case.truth, said, case.scores, blocks, seed),
        "blocks": blocks.count,
        "block_seconds": blocks.seconds if blocks.count else DAY,
        "seed": seed,
        "chance": _chance(case, said) if bounded and blocks.seconds >= BURST else None,
    }


def _chance(case: Case, said: Bools) -> float:
    alarms = case.blocks.sums(said & ~case.truth)
    return binomial.excess(alarms, case.blocks.sums(case.known[case.known]), case.bound)
