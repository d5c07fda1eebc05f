"""The figures of served predictions joined to outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools
from birthmark.data.common.percentages import percent
from birthmark.data.prediction_log import ANSWER, SAID
from birthmark.data.schema import field
from birthmark.predictor import Predicate, TrainedModel
from birthmark.predictor.answers.certainty import WORDS
from birthmark.training.audit.matching import Join
from birthmark.training.evaluate.breakdown import BREAKDOWN, Grouping, break_down, grouping
from birthmark.training.evaluate.cases import majority
from birthmark.training.evaluate.evaluation import EVALUATION, STANDING, TABLE_6_5
from birthmark.training.evaluate.metrics import counts, intervals
from birthmark.training.evaluate.three_answers import OF_NO, of_no
from birthmark.training.statistics.bootstrap import SEED, Blocks, blocks_of

_ENDS = [
    name for name in EVALUATION.names if name.endswith(("_low", "_high")) and "brier" not in name
]

SERVED = pa.schema(
    [
        field("version", pa.utf8(), "the version that answered", nullable=False),
        *TABLE_6_5[:3],
        EVALUATION.field("point"),
        EVALUATION.field("bound"),
        *TABLE_6_5[3:],
        *(EVALUATION.field(name) for name in [*_ENDS, "blocks", "block_seconds", "seed"]),
        STANDING,
        *OF_NO,
    ]
)
"""One row per version, predicate, kind of model and operating point: answers and accuracy."""

GROUPS = pa.schema(
    [
        SERVED.field("version"),
        *(
            field(f.name, f.type, "grouping: hour (UTC), user or client", False)
            if f.name == "by"
            else f
            for f in BREAKDOWN
        ),
    ]
)
"""The columns of `BREAKDOWN` of each version; `group` of hours is their number, 00 to 23."""


@dataclass(frozen=True)
class Answered:
    """The model that answered: its `version`, `kind` and operating `point`."""

    version: str
    kind: str
    point: str
    model: TrainedModel

    @property
    def bound(self) -> float | None:
        """The bound on the share of false positives; None if there is none."""
        return self.model.limits.yes.bound if self.point == "bounded" else None


@dataclass(frozen=True)
class Figures:
    """Rows of `SERVED` and `GROUPS`."""

    served: list[dict[str, Any]]
    groups: list[dict[str, Any]]


def figures(
    answered: Answered, rows: pa.Table, births: Mapping[str, pa.Table], joins: Mapping[str, Join]
) -> Figures:
    """Return the figures of `rows`, answers of `answered`; births and joins are by subject."""
    found = Figures([], [])
    for subject, join in joins.items():
        joined_rows, lives = rows.take(join.rows), births[subject].take(join.lives)
        groups = _groupings(lives)
        for key, predicate in answered.model.predicates.items():
            if predicate.subject == subject and ANSWER + key in rows.column_names:
                words = joined_rows[SAID + key] if SAID + key in rows.column_names else None
                answers = _PredicateAnswers(
                    answered, key, predicate, joined_rows[ANSWER + key], words, lives
                )
                found.served.append(answers.row())
                found.groups.extend(answers.groups(groups))
    return found


def _groupings(lives: pa.Table) -> list[Grouping]:
    hours = pc.hour(lives["born"]).to_numpy().astype(np.int64)
    return [
        Grouping("hour", [f"{hour:02d}" for hour in range(24)], hours),
        grouping("user", lives["uid"]),
        grouping("client", lives["client"]),
    ]


class _PredicateAnswers:
    """One predicate's answers, for the rows with a known outcome."""

    def __init__(
        self,
        answered: Answered,
        key: str,
        predicate: Predicate,
        answers: pa.ChunkedArray,
        words: pa.ChunkedArray | None,
        lives: pa.Table,
    ) -> None:
        truth = predicate.evaluate(lives)
        known = pc.and_(truth.is_valid(), answers.combine_chunks().is_valid())
        self.known: Bools = known.to_numpy(zero_copy_only=False)
        self.truth = _bools(truth.filter(known))
        self.answers = _bools(answers.filter(known).combine_chunks())
        self.words = None if words is None else words.filter(known)
        self.no_bound = answered.model.limits.no.bound
        born = lives["born"].cast(pa.int64()).to_numpy()
        self.blocks: Blocks = blocks_of(born[self.known])
        self.guess = majority(answered.model.tallies[key])
        self.bound = answered.bound
        self.names = {
            "version": answered.version,
            "subject": predicate.subject,
            "predicate": predicate.name,
            "model": answered.kind,
            "point": answered.point,
        }

    def row(self) -> dict[str, Any]:
        ends = intervals(self.truth, self.answers, self.answers.astype(float), self.blocks)
        return {
            **self.names,
            "bound": percent(self.bound, 1) if self.bound is not None else None,
            "n_unknown": len(self.known) - len(self.truth),
            **counts(self.truth, self.answers, self.guess),
            **{name: ends[name] for name in _ENDS},
            "blocks": self.blocks.count,
            "block_seconds": self.blocks.seconds,
            "seed": SEED,
            **self._of_no(),
        }

    def _of_no(self) -> dict[str, Any]:
        """Return the figures of no and unsure, if the log distinguishes them."""
        if self.words is None or self.words.null_count:
            return {}
        numbers = pc.index_in(self.words, pa.array(WORDS)).to_numpy()
        return of_no(self.truth, numbers, self.blocks, 100 * self.no_bound)

    def groups(self, groupings: list[Grouping]) -> Iterator[dict[str, Any]]:
        for each in groupings:
            for row in break_down(each, self.known, self.truth, self.answers, self.guess):
                if row["n"]:
                    yield {**self.names, **row}


def _bools(values: pa.Array) -> Bools:
    return np.asarray(values.to_numpy(zero_copy_only=False).astype(bool))
