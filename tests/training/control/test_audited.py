from __future__ import annotations

from typing import Any

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.training.control.audited import ledgers, moved


def row(version: str = "1", model: str = "best", **changed: Any) -> dict[str, Any]:
    about = {"version": version, "model": model, "subject": "file", "predicate": "lock"}
    return about | {"bound": 1.0, "n": 1000, "n_false_positive": 5} | changed


def test_only_bounded_answers_of_one_version_and_kind_are_counted() -> None:
    others = [row("2"), row(model="forest"), row(bound=None)]
    (own,) = ledgers([row(), row(n=500), *others], "1", "best").values()
    assert (own.bound, own.outcomes, own.false_positives) == (0.01, 1500, 10)


def test_a_predicate_abstains_at_every_scope_while_its_counts_forbid_a_yes() -> None:
    wrong = row(predicate="size=zero", n_false_positive=100)
    found = moved([row(), wrong], "1", "best", 0.01, clock=7)
    assert len(found.thresholds) == 2 * len(HISTORY_SCOPES)
    abstaining = {each.predicate for each in found.thresholds if each.abstains}
    assert abstaining == {"size=zero"}
    later = moved([row(), wrong, row(predicate="size=zero", n=20_000)], "1", "best", 0.01, clock=8)
    assert not any(each.abstains for each in later.thresholds)
