"""How well a trained model predicts files and names that it has not seen (thesis 6.3.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from data.schema import field
from features import creates
from predictor import Predicate, TrainedModel, births

EVALUATION = pa.schema(
    [
        field("subject", pa.utf8(), "what the predicate is about: file or name", nullable=False),
        field("predicate", pa.utf8(), "its name, as in Tables 6.4 to 6.8", nullable=False),
        field("model", pa.utf8(), "the kind of model: name or able", nullable=False),
        field("n", pa.int64(), "rows whose answer is known: all that is tested", nullable=False),
        field("n_unknown", pa.int64(), "rows whose answer the trace does not tell", nullable=False),
        field("n_true", pa.int64(), "rows that satisfied the predicate", nullable=False),
        field("n_correct", pa.int64(), "predictions that came true", nullable=False),
        field("n_true_positive", pa.int64(), "predictions of YES that came true", nullable=False),
        field("n_false_positive", pa.int64(), "predictions of YES that did not", nullable=False),
        field("correct", pa.float64(), "n_correct, percent of n"),
        field("occurs", pa.float64(), "n_true, percent of n"),
        field(
            "guess", pa.float64(), "what the training data's majority answer gets right, percent"
        ),
        field(
            "delta_error",
            pa.float64(),
            "errors that the guess makes and the model does not, percent of the guess's errors;"
            " null where the guess makes none",
        ),
        field("incorrect", pa.float64(), "100 less correct, percent"),
        field("false_positives", pa.float64(), "n_false_positive, percent of n"),
        field("precision", pa.float64(), "n_true_positive, percent of all predictions of YES"),
        field("recall", pa.float64(), "n_true_positive, percent of n_true"),
    ]
)
"""One row per predicate and kind of model: the columns of Table 6.5 and the counts behind them.

A percentage of nothing is null.
"""


def percent(part: int, whole: int) -> float | None:
    """Return `part` as a percentage of `whole`; None where `whole` is 0."""
    return 100 * part / whole if whole else None


def score(truth: pa.BooleanArray, predicted: pa.BooleanArray, guess: bool) -> dict[str, Any]:
    """Return the columns of `EVALUATION` that follow from one set of predictions.

    `truth` holds null where the answer is unknown; those rows count nowhere else. `guess` is the
    training data's majority answer.
    """
    known = truth.is_valid()
    true, said = truth.filter(known), predicted.filter(known)
    n, n_true = len(true), true.true_count
    hits = pc.and_(true, said).true_count
    alarms = said.true_count - hits
    wrong = alarms + n_true - hits
    guess_wrong = n - n_true if guess else n_true
    return {
        "n": n,
        "n_unknown": truth.null_count,
        "n_true": n_true,
        "n_correct": n - wrong,
        "n_true_positive": hits,
        "n_false_positive": alarms,
        "correct": percent(n - wrong, n),
        "occurs": percent(n_true, n),
        "guess": percent(n - guess_wrong, n),
        "delta_error": percent(guess_wrong - wrong, guess_wrong),
        "incorrect": percent(wrong, n),
        "false_positives": percent(alarms, n),
        "precision": percent(hits, said.true_count),
        "recall": percent(hits, n_true),
    }


def majority(tally: Mapping[str, int]) -> bool:
    """Return the answer that the training data suggests to one who knows nothing else.

    YES where half of the known answers or more are (Table 6.5); NO where none is known. `tally`
    is a `predictor.tally` of the training data.
    """
    return tally["known"] > 0 and 2 * tally["true"] >= tally["known"]


def evaluate(model: TrainedModel, files: pa.Table, names: pa.Table) -> pa.Table:
    """Test every predicate of `model`, by every kind of model it holds, on a period's lives.

    `files` and `names` are tables of `data.schema`, of which only the births count. Returns a
    table of `EVALUATION`.
    """
    rows: list[dict[str, Any]] = []
    for subject, lives, known in (
        ("file", births(files), creates.from_files),
        ("name", births(names), creates.from_names),
    ):
        predicates = [p for p in model.predicates.values() if p.subject == subject]
        answers = {kind: model.predict(known(lives), kind) for kind in model.kinds}
        for predicate in predicates:
            rows += _rows(predicate, lives, answers, majority(model.tallies[predicate.key]))
    return pa.Table.from_pylist(rows, schema=EVALUATION)


def _rows(
    predicate: Predicate,
    lives: pa.Table,
    answers: Mapping[str, Mapping[str, pa.BooleanArray]],
    guess: bool,
) -> list[dict[str, Any]]:
    truth = predicate.evaluate(lives)
    head = {"subject": predicate.subject, "predicate": predicate.name}
    return [
        {**head, "model": kind, **score(truth, predicted[predicate.key], guess)}
        for kind, predicted in answers.items()
    ]
