"""How the choice of minfrac changes what the name model gets right (Tables 6.9 to 6.14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from data.schema import field
from features.components import match_components
from predictor.name_model import select_rules
from predictor.trained import TrainedModel
from training.evaluate import EVALUATION, score
from training.labels import births, majority

MINFRACS = (0.75, 0.80, 0.85, 0.90, 0.95, 0.97, 0.99, 1.00)
"""The thresholds of Tables 6.9 to 6.14."""

SENSITIVITY = pa.schema(
    [
        field("minfrac", pa.float64(), "the threshold tried", nullable=False),
        field("rules", pa.int64(), "components that it keeps as rules", nullable=False),
        *EVALUATION,
    ]
)
"""One row per predicate and threshold, with the columns of `EVALUATION`."""


def sensitivity(
    model: TrainedModel,
    tallies: Mapping[str, Mapping[str, int]],
    files: pa.Table,
    names: pa.Table,
    minfracs: Sequence[float] = MINFRACS,
) -> pa.Table:
    """Test the name models of `model` at each threshold; see `training.evaluate.evaluate`.

    Nothing is trained anew: the counts stay, and only the choice of rules among them changes.
    """
    births_of = {"file": births(files), "name": births(names)}
    known = {subject: lives["name"].combine_chunks() for subject, lives in births_of.items()}
    rows = []
    for predicate in model.predicates.values():
        subject = predicate.subject
        truth = predicate.evaluate(births_of[subject])
        guess = majority(tallies[predicate.key])
        trained = model.models["name"][predicate.key]
        for minfrac in minfracs:
            rules = select_rules(trained.counts_, minfrac, trained.mincount)["component"]
            said = match_components(known[subject], rules.combine_chunks(), trained.prefix)
            rows.append(
                {
                    "subject": subject,
                    "predicate": predicate.name,
                    "model": "name",
                    "minfrac": minfrac,
                    "rules": len(rules),
                    **score(truth, said.is_valid(), guess),
                }
            )
    return pa.Table.from_pylist(rows, schema=SENSITIVITY)
