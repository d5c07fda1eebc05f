"""Which kind of models errs least, on births that it did not learn from.

It is told by how calibration scored them (``predictor.fit.calibration``), and costs no more
training. Every predicate weighs the same, and so does every level of what may be told of a create
(``features.told.TOLD``): nobody knows at training how much askers will know. A kind that is told
nothing errs as often at each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from birthmark.features.told import TOLD
from birthmark.predictor.answers.point import Point
from birthmark.predictor.models.model_set import ModelSet


def held_out_errors(models: Mapping[str, ModelSet[Any]], point: Point) -> dict[str, float]:
    """Return by kind which share of its answers at ``point`` was wrong of births held out.

    It is the mean over predicates and levels. An abstaining predicate's answer is no. Kinds that
    were not calibrated, or on no birth whose label is known, are left out.
    """
    errors = {}
    for kind, own in models.items():
        found = [own.point(key, told).errors_at(point) for key in own for told in TOLD]
        known = [share for share in found if share is not None]
        if known:
            errors[kind] = sum(known) / len(known)
    return errors


def best_kind(errors: Mapping[str, float], otherwise: str) -> str:
    """Return the kind of the least ``errors``; ``otherwise`` if it is as good, or none is known."""
    return min(errors, key=lambda kind: (errors[kind], kind != otherwise), default=otherwise)
