"""How the choice of minfrac changes what the name model gets right (Tables 6.9 to 6.14)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy

import pyarrow as pa

from data.schema import field
from features import creates
from predictor.trained import TrainedModel
from training.evaluate import EVALUATION, score
from training.labels import births, key, majority

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
    known = {
        "file": creates.from_files(births_of["file"]),
        "name": creates.from_names(births_of["name"]),
    }
    rows = []
    for predicate in model.predicates.values():
        subject = predicate.subject
        truth = predicate.evaluate(births_of[subject])
        guess = majority(tallies[key(predicate)])
        trained = model.models["name"][key(predicate)]
        for minfrac in minfracs:
            tried = copy(trained).set_params(minfrac=minfrac)
            rows.append(
                {
                    "subject": subject,
                    "predicate": predicate.name,
                    "model": "name",
                    "minfrac": minfrac,
                    "rules": len(tried.rules_),
                    **score(truth, tried.predict(known[subject]), guess),
                }
            )
    return pa.Table.from_pylist(rows, schema=SENSITIVITY)
