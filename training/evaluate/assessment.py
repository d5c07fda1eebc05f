"""The results of a model's test: figures, curves, and breakdowns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from birthmark.predictor import TrainedModel
from birthmark.training.evaluate.breakdown import BREAKDOWN, Grouping, break_down, groupings
from birthmark.training.evaluate.cases import Case, Labelled, cases, labelled
from birthmark.training.evaluate.curves import CURVES, curves
from birthmark.training.evaluate.evaluation import rows_of, tabulate
from birthmark.training.evaluate.parallel import Tables, by_kind
from birthmark.training.evaluate.three_answers import ANSWERS, RELIABILITY, answers
from birthmark.training.statistics.bootstrap import SEED


@dataclass(frozen=True, repr=False)
class Assessment:
    """The tables of `EVALUATION`, `CURVES`, `BREAKDOWN`, `ANSWERS` and `RELIABILITY` of one test.

    The last two are empty for cases outside of a trained model.
    """

    evaluation: pa.Table
    curves: pa.Table
    breakdown: pa.Table
    answers: pa.Table = field(default_factory=ANSWERS.empty_table)
    reliability: pa.Table = field(default_factory=RELIABILITY.empty_table)

    def __repr__(self) -> str:
        rows = ", ".join(f"{len(table):,} of {name}" for name, table in vars(self).items())
        return f"<Assessment, rows: {rows}>"


def assess(model: TrainedModel, files: pa.Table, names: pa.Table, seed: int = SEED) -> Assessment:
    """Test `model` on a period's lives; see `training.evaluate.evaluation.evaluate`."""
    tests = by_kind(_assess, model, files, names, seed)
    return Assessment(
        tabulate(row for tables in tests for row in tables["evaluation"].to_pylist()),
        *(
            pa.concat_tables(tables[name] for tables in tests)
            for name in ("curves", "breakdown", "answers", "reliability")
        ),
    )


def _assess(model: TrainedModel, files: pa.Table, names: pa.Table, seed: int) -> Tables:
    test = labelled(model.predicates, files, names, model.creates)
    tables = assess_cases(cases(model, test), test, files, seed)
    answer_rows, reliability = answers(model, test)
    return vars(replace(tables, answers=answer_rows, reliability=reliability))


def assess_cases(
    found: Iterable[Case], test: Mapping[str, Labelled], files: pa.Table, seed: int = SEED
) -> Assessment:
    """Return the results for cases; `files` has the directories, which give the depth."""
    groups = {subject: groupings(own.lives, files) for subject, own in test.items()}
    figures: list[dict[str, Any]] = []
    points: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for case in found:
        figures += rows_of(case, seed)
        by_point = {point: case.answers_at(point) for point in case.thresholds}
        if "bounded" in by_point:  # a model with two cases has its curves once
            points += ({**case.names, **row} for row in curves(case.truth, case.scores, by_point))
        parts += _parts(case, groups[case.subject])
    return Assessment(
        tabulate(figures),
        pa.Table.from_pylist(points, schema=CURVES),
        pa.Table.from_pylist(parts, schema=BREAKDOWN),
    )


def _parts(case: Case, groups: Iterable[Grouping]) -> Iterable[dict[str, Any]]:
    for point in case.thresholds:
        for grouping in groups:
            for row in break_down(
                grouping, case.known, case.truth, case.answers_at(point), case.guess
            ):
                yield {**case.names, "point": point, **row}
