"""Sensitivity of the name model's accuracy to minfrac (Tables 6.9 to 6.14)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import field
from birthmark.predictor import TrainedModel, births
from birthmark.predictor.models.name.model import NameRules, select_rules
from birthmark.training.evaluate.cases import majority
from birthmark.training.evaluate.evaluation import TABLE_6_5, score
from birthmark_native import match_components

MINFRACS = (0.75, 0.80, 0.85, 0.90, 0.95, 0.97, 0.99, 1.00)
"""The thresholds of Tables 6.9 to 6.14."""

SENSITIVITY = pa.schema(
    [
        field("minfrac", pa.float64(), "the threshold tried", nullable=False),
        field("rules", pa.int64(), "components that are rules", nullable=False),
        *TABLE_6_5,
    ]
)
"""One row per predicate and threshold, with the columns of `TABLE_6_5`."""


def sensitivity(
    model: TrainedModel,
    files: pa.Table,
    names: pa.Table,
    minfracs: Sequence[float] = MINFRACS,
) -> pa.Table:
    """Test the name models of `model` at each threshold; see `evaluation.evaluate`.

    Nothing is trained again: the counts stay, and only the choice of rules changes. Without name
    models there is nothing to test.
    """
    rows: list[dict[str, Any]] = []
    if "name" not in model.kinds:
        return pa.Table.from_pylist(rows, schema=SENSITIVITY)
    for subject, lives in (("file", births(files)), ("name", births(names))):
        names_given = lives["name"].combine_chunks()
        for predicate in model.predicates.values():
            if predicate.subject != subject:
                continue
            head = {"subject": subject, "predicate": predicate.name, "model": "name"}
            truth, guess = predicate.evaluate(lives), majority(model.tallies[predicate.key])
            strengths, of_names = _strengths(
                model.models["name"][predicate.key], names_given, min(minfracs)
            )
            for minfrac in minfracs:
                rule_count = pc.greater_equal(strengths, minfrac).true_count
                answers = pc.greater_equal(of_names, minfrac)
                figures = score(truth, answers, guess)
                rows.append({**head, "minfrac": minfrac, "rules": rule_count, **figures})
    return pa.Table.from_pylist(rows, schema=SENSITIVITY)


def _strengths(model: NameRules, names: pa.Array, least: float) -> tuple[pa.Array, pa.Array]:
    """Return n_M/n_A of each rule at `minfrac` = `least`, and of each name's strongest rule.

    A name without a rule has -1. A name has a rule at a higher threshold if its strongest rule
    reaches it, so one search serves all thresholds.
    """
    rules = select_rules(model.counts_, least, model.mincount).combine_chunks()
    strengths = pc.divide(*(pc.cast(rules[n], pa.float64()) for n in ("n_m", "n_a")))
    strengths = strengths.combine_chunks()
    strongest = match_components(names, rules["component"].combine_chunks(), model.prefix)
    return strengths, pc.fill_null(strengths.take(strongest), -1.0)
