"""Training sets of models on lives, and choosing their thresholds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from predictor.calibration import Holdout
from predictor.model_set import ModelSet
from predictor.thresholds import Bools, Limit


def learn(
    sets: Iterable[ModelSet[Any]],
    lives: pa.Table,
    creates: pa.Table,
    labels: Mapping[str, pa.BooleanArray],
    parameters: Mapping[str, Any],
) -> Bools:
    """Train every one of ``sets`` on ``labels``, and return which rows they learned from.

    ``lives``, ``creates`` and ``labels`` have the same rows. ``parameters`` are those of
    ``predictor.TrainedModel``: of them each kind of models takes its own.
    """
    holdout = Holdout.of(lives, parameters["calibration"])
    limit = Limit(parameters["bound"], parameters["confidence"])

    def learning(models: ModelSet[Any], mask: Bools) -> ModelSet[Any]:
        some = pa.array(mask)
        seen = {key: answers.filter(some) for key, answers in labels.items()}
        known = models.columns(creates.filter(some))
        models.train(known, seen, **models.own(parameters))
        return models

    for models in sets:
        learning(models, holdout.learned)
        holdout.calibrate(models, learning, creates, labels, limit)
        models.condense(creates, labels)
    return holdout.learned
