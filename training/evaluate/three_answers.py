"""Figures of the three answers: coverage, errors and calibration.

Yes and no each have a bound on their errors, as a share of all files. Unsure has none, but a
probability of yes: among files with the same probability, that share should be a yes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Bools, Floats
from birthmark.data.common.percentages import percent
from birthmark.data.schema import field
from birthmark.predictor import TrainedModel
from birthmark.predictor.answers.certainty import WORDS, ThreeWayAnswer
from birthmark.predictor.answers.point import POINTS, Point
from birthmark.predictor.fit.thresholds import Limits
from birthmark.training.evaluate.cases import Labelled
from birthmark.training.evaluate.evaluation import EVALUATION
from birthmark.training.evaluate.metrics import brier, share_interval
from birthmark.training.statistics.bootstrap import Blocks
from birthmark.training.statistics.standing import Standing, of_test

_NO_STANDING = "standing of the bound of a no, like `standing` of a yes; null: unknown"

OF_NO = [
    field("n_no", pa.int64(), "answers of no"),
    field("n_unsure", pa.int64(), "answers of unsure"),
    field("n_false_negative", pa.int64(), "wrong answers of no"),
    field("decided", pa.float64(), "coverage: answers of yes or no, percent of n"),
    field("right", pa.float64(), "accuracy when decided: correct ones among them, percent"),
    field("false_negatives", pa.float64(), "n_false_negative, percent of n"),
    field("false_negatives_low", pa.float64(), "lower end of its 95% confidence interval"),
    field("false_negatives_high", pa.float64(), "upper end of its 95% confidence interval"),
    field("false_negative_bound", pa.float64(), "bound on false negatives, percent of n"),
    field("no_standing", pa.utf8(), _NO_STANDING),
]
"""Columns about no and unsure, if the log distinguishes them."""

ANSWERS = pa.schema(
    [
        *map(EVALUATION.field, ("subject", "predicate", "model", "point", "n", "n_true")),
        field("n_yes", pa.int64(), "answers of yes", nullable=False),
        field("n_false_positive", pa.int64(), "wrong answers of yes", nullable=False),
        *OF_NO,
        *(EVALUATION.field(f"false_positives{end}") for end in ("", "_low", "_high")),
        field("bound", pa.float64(), "bound on false positives, percent of n"),
        field("standing", pa.utf8(), "standing of the bound of a yes; null: none, or unknown"),
        field("likely", pa.float64(), "mean predicted probability of a yes, percent"),
        field("brier", pa.float64(), "mean squared difference of probability and truth, 0 to 1"),
    ]
)
"""One row per predicate, kind of model and point: the three answers, made consistent."""

RELIABILITY = pa.schema(
    [
        EVALUATION.field("model"),
        field("likely", pa.float64(), "mean predicted probability of a yes, 0 to 1"),
        field("share", pa.float64(), "observed frequency of a yes, 0 to 1"),
        field("n", pa.int64(), "answers in the bin"),
    ]
)
"""Reliability diagram of all predicates together."""

EDGES = (0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
"""Edges of the bins of `RELIABILITY`."""


def answers(model: TrainedModel, test: Mapping[str, Labelled]) -> tuple[pa.Table, pa.Table]:
    """Return tables of `ANSWERS` and `RELIABILITY` for every kind of model, tested on births."""
    rows: list[dict[str, Any]] = []
    bins: list[dict[str, Any]] = []
    for kind in model.kinds:
        likely: list[tuple[Floats, Bools]] = []
        for own in test.values():
            for point in POINTS:
                given = model.answer(own.creates, kind, point, list(own.predicates))
                for key, each in given.items():
                    row, pairs = _row(own, key, each, point, model.limits)
                    rows.append({"model": kind, "point": point, **row})
                    likely += [pairs] if point == "bounded" else []
        bins += [{"model": kind, **each} for each in _reliability(likely)]
    order = list(dict.fromkeys((row["subject"], row["predicate"]) for row in rows))
    rows.sort(key=lambda row: order.index((row["subject"], row["predicate"])))
    return (
        pa.Table.from_pylist(rows, schema=ANSWERS),
        pa.Table.from_pylist(bins, schema=RELIABILITY),
    )


def _row(
    test: Labelled, key: str, given: ThreeWayAnswer, point: Point, limits: Limits
) -> tuple[dict[str, Any], tuple[Floats, Bools]]:
    """Return the figures of a predicate's answers, and its probabilities and truth."""
    known, truth, blocks = test.answers[key]
    words = given.words.to_numpy()[known]
    likely = given.probabilities.to_numpy(zero_copy_only=False)[known].astype(float)
    known = ~np.isnan(likely)
    yes = words == WORDS.index("yes")
    wrong = yes & ~truth
    bound = 100 * limits.yes.bound if point == "bounded" else None
    predicate = test.predicates[key]
    row = {
        "subject": predicate.subject,
        "predicate": predicate.name,
        "n": len(truth),
        "n_true": int(truth.sum()),
        "n_yes": int(yes.sum()),
        "n_false_positive": int(wrong.sum()),
        **of_no(truth, words, blocks, 100 * limits.no.bound),
        **_share("false_positives", wrong, blocks),
        "bound": bound,
        "likely": 100 * float(likely[known].mean()) if known.any() else None,
        "brier": brier(truth[known], likely[known]),
    }
    row["standing"] = _standing(wrong, bound, blocks, yes)
    return row, (likely[known], truth[known])


def of_no(truth: Bools, words: Any, blocks: Blocks, bound: float) -> dict[str, Any]:
    """Return the columns `OF_NO` of answers `words`, numbers of `WORDS`, about rows of `truth`.

    `bound` is the bound on false negatives, percent.
    """
    n, (no, unsure, yes) = len(truth), (words == number for number in range(len(WORDS)))
    missed = no & truth
    right = int((yes & truth).sum() + (no & ~truth).sum())
    return {
        "n_no": int(no.sum()),
        "n_unsure": int(unsure.sum()),
        "n_false_negative": int(missed.sum()),
        "decided": percent(n - int(unsure.sum()), n),
        "right": percent(right, n - int(unsure.sum())),
        **_share("false_negatives", missed, blocks),
        "false_negative_bound": bound,
        "no_standing": _standing(missed, bound, blocks, no),
    }


def _share(name: str, wrong: Bools, blocks: Blocks) -> dict[str, float | None]:
    return {name: percent(int(wrong.sum()), len(wrong)), **share_interval(name, wrong, blocks)}


def _standing(wrong: Bools, bound: float | None, blocks: Blocks, given: Bools) -> Standing | None:
    """Return the standing of a bound; None without a bound or without such answers."""
    if bound is None or not given.any():
        return None
    every = blocks.sums(np.ones(len(wrong)))
    return of_test(bound / 100, blocks.sums(wrong), every, blocks.seconds)


def _reliability(pairs: Iterable[tuple[Floats, Bools]]) -> Iterable[dict[str, Any]]:
    parts = list(pairs)
    if not parts:
        return
    likely, truth = (np.concatenate(column) for column in zip(*parts, strict=True))
    bins = np.digitize(likely, EDGES)
    for number in np.unique(bins):
        own = bins == number
        share, mean = float(truth[own].mean()), float(likely[own].mean())
        yield {"likely": mean, "share": share, "n": int(own.sum())}


def of_served(answers: pa.Table, kind: str, point: str) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of `ANSWERS` of the served kind and operating point, by subject."""
    rows = [r for r in answers.to_pylist() if (r["model"], r["point"]) == (kind, point)]
    return {str(subject): list(own) for subject, own in groupby(rows, lambda r: r["subject"])}
