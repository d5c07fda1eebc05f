from __future__ import annotations

from typing import Any

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.serving.page.controlled import controlled
from birthmark.training.registry.thresholds import MovedThreshold, MovedThresholds


def row(**own: Any) -> MovedThreshold:
    usual = {"predicate": "lock", "told": "caller", "calibrated": 0.5, "score": 0.6, "sum": 7}
    return MovedThreshold(**{**usual, "outcomes": 1000, "false_positives": 5, **own})


def test_without_adjusted_thresholds_there_is_nothing_to_show() -> None:
    assert controlled(None) is None


def test_shares_are_listed_by_predicate_and_scope_and_marked_above_the_bound() -> None:
    rows = [
        row(),
        row(told="nothing", false_positives=11, score=None),
        row(predicate="size=zero", told="directory", outcomes=0, false_positives=0),
    ]
    found = controlled(
        MovedThresholds(version="1", kind="forest", bound=0.01, clock=5, thresholds=rows)
    )
    assert found is not None
    assert (found["bound"], found["scopes"], found["outcomes"]) == (1.0, HISTORY_SCOPES, 1000)
    lock, zero = found["rows"]
    assert lock["predicate"] == "lock"
    assert lock["cells"] == [
        None,
        {"share": 0.5, "over": False, "silent": False},
        None,
        {"share": 1.1, "over": True, "silent": True},
    ]
    assert zero["cells"][0] == {"share": None, "over": False, "silent": False}
