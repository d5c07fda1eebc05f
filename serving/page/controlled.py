"""What the page tells of the thresholds that a follower moves."""

from __future__ import annotations

from typing import Any

from birthmark.data.common.percentages import percent
from birthmark.features.told import TOLD
from birthmark.training.control.thresholds import MovedThresholds


def controlled(moved: MovedThresholds | None) -> dict[str, Any] | None:
    """Return the running shares of false positives, a row for each predicate; None without any.

    In percent of the outcomes that were counted since the version was published; a cell for each of
    ``features.told.TOLD``, which is ``over`` where it is above the ``bound``, and ``silent`` where
    nothing is answered yes now.
    """
    if moved is None:
        return None
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in moved.thresholds:
        share = percent(row.false_positives, row.outcomes)
        over = share is not None and share > 100 * moved.bound
        cell = {"share": share, "over": over, "silent": row.score is None}
        found.setdefault(row.predicate, {})[row.told] = cell
    return {
        "bound": 100 * moved.bound,
        "told": TOLD,
        "outcomes": max((row.outcomes for row in moved.thresholds), default=0),
        "rows": [
            {"predicate": key, "cells": [cells.get(told) for told in TOLD]}
            for key, cells in found.items()
        ],
    }
