"""The page's table of the thresholds that a follower adjusts."""

from __future__ import annotations

from typing import Any

from birthmark.data.common.percentages import percent
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.training.registry.thresholds import MovedThresholds


def controlled(moved: MovedThresholds | None) -> dict[str, Any] | None:
    """Return the running shares of false positives by predicate; None without adjusted thresholds.

    Shares are in percent of the outcomes since the version was published, with a cell for each
    history scope. A cell is ``over`` if it is above the ``bound``, and ``silent`` if no file is
    answered yes now.
    """
    if moved is None:
        return None
    cells_by_predicate: dict[str, dict[str, dict[str, Any]]] = {}
    for row in moved.thresholds:
        share = percent(row.false_positives, row.outcomes)
        over = share is not None and share > 100 * moved.bound
        cell = {"share": share, "over": over, "silent": row.score is None}
        cells_by_predicate.setdefault(row.predicate, {})[row.told] = cell
    return {
        "bound": 100 * moved.bound,
        "scopes": HISTORY_SCOPES,
        "outcomes": max((row.outcomes for row in moved.thresholds), default=0),
        "rows": [
            {"predicate": key, "cells": [cells.get(scope) for scope in HISTORY_SCOPES]}
            for key, cells in cells_by_predicate.items()
        ],
    }
