"""Comparison of training windows of several lengths on the same test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from birthmark.data.datasets.tables import read_files, read_names
from birthmark.data.schema import field
from birthmark.data.traces.inputs import reject_duplicates
from birthmark.predictor import Predicate
from birthmark.predictor.models.estimators.estimator import Estimator
from birthmark.training.config import Settings, Windows
from birthmark.training.evaluate.cases import expect_births
from birthmark.training.evaluate.evaluation import EVALUATION, evaluate
from birthmark.training.learn.loss import without_loss
from birthmark.training.learn.train import read_lives, train

WINDOWS = pa.schema(
    [
        field("window", pa.int64(), "length requested, in days", nullable=False),
        field("days", pa.int64(), "days available, all used in training", nullable=False),
        *EVALUATION,
    ]
)
"""The columns of `EVALUATION` for each window."""


def windows(
    days: Sequence[Path],
    test: Path,
    settings: Settings,
    predicates: Iterable[Predicate] | None = None,
    estimators: Mapping[str, Estimator] = {},
    lengths: Sequence[int] = tuple(Windows().lengths),
) -> pa.Table:
    """Train on the last days before `test`, for each of `lengths`, and test on it.

    `days` are datasets of a day each, in the order of time. A window longer than `days` uses all of
    them; still longer ones would be the same, and are left out. `predicates` and `estimators` are
    as for `train`. Returns a table of `WINDOWS`. Raises ValueError for duplicate datasets, and if
    `test` has no visible creation.
    """
    reject_duplicates([*days, test])
    files, names, _ = without_loss(read_files(test), read_names(test), settings.without_loss)
    expect_births(test, files)
    chosen = None if predicates is None else list(predicates)
    tables = []
    for length in sorted(lengths):
        own = days[-length:]
        model, _ = train(read_lives(own, settings.without_loss), settings, chosen, estimators)
        table = evaluate(model, files, names)
        for column, value in (("days", len(own)), ("window", length)):
            table = table.add_column(0, column, pa.array([value] * len(table), pa.int64()))
        tables.append(table.cast(WINDOWS))
        if len(own) == len(days):
            break
    return pa.concat_tables(tables)
