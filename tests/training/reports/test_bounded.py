from __future__ import annotations

from typing import Any

import pyarrow as pa

from birthmark.training.evaluate.breakdown import BREAKDOWN
from birthmark.training.evaluate.evaluation import EVALUATION
from birthmark.training.reports.bounded import abstentions, bounded_tables, failures, known_bounds


def row(model: str, point: str = "bounded", **columns: Any) -> dict[str, Any]:
    return {
        "subject": "file",
        "predicate": "lock",
        "model": model,
        "point": point,
        "bound": 1.0,
        "abstained": False,
        "n_true_positive": 10,
        "true_positives": 10.0,
        "false_positives": 0.5,
        "standing": "holds",
        "n": 5000,
        "block_seconds": 3600,
        **columns,
    }


def evaluation(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=EVALUATION)


def test_the_best_is_who_has_most_true_positives_of_those_within_the_bound() -> None:
    table = evaluation(
        row("name", "accurate", n_true_positive=99),
        row("name"),
        row("able", n_true_positive=20, false_positives=1.5),
    )
    ((lock,),) = bounded_tables(table).values()
    assert lock["of"]["name"]["best"]
    assert not lock["of"]["able"]["best"]
    assert lock["of"]["name"]["marks"] == {"at": 10, "low": 10, "high": 10}


def test_the_served_kind_comes_first_with_the_worst_bounds_on_top() -> None:
    table = evaluation(
        row("name", standing="shown broken", false_positives=9.0),
        row("rules", standing="above it today", false_positives=2.0),
        row("rules", standing="shown broken", false_positives=3.0, subject="name"),
        row("rules", standing="not enough seen", false_positives=5.0, predicate="empty"),
        row("able"),
    )
    first, *others = known_bounds(table, "rules")
    assert first.model == "rules"
    assert first.in_words == ("not enough seen 1, above it today 1, shown broken 1")
    assert [each["false_positives"] for each in first.over] == [3, 2]
    assert [(each.model, each.in_words) for each in others] == [
        ("name", "shown broken 1"),
        ("able", "every bound holds"),
    ]


def test_abstentions_are_listed_by_model() -> None:
    table = evaluation(
        row("name", abstained=True),
        row("name", abstained=True, subject="name"),
        row("able"),
    )
    assert abstentions(table) == {"name": ["lock", "lock of names"]}


def test_a_group_shows_means_over_predicates_and_the_worst_of_them() -> None:
    def part(predicate: str, point: str, group: str = "7", **columns: Any) -> dict[str, Any]:
        head = {"subject": "file", "predicate": predicate, "model": "name", "point": point}
        figures = {"n": 4, "correct": 50.0, "guess": 75.0, "true_positives": 1.0}
        return {**head, "by": "user", "group": group, **figures, "false_positives": 0.0, **columns}

    rows = [
        part("lock", "accurate", correct=70.0),
        part("size=zero", "accurate"),
        part("lock", "bounded", false_positives=4.0, n_false_positive=1),
        part("size=zero", "bounded"),
        part("lock", "bounded", "other", n=9),
        part("lock", "bounded", "8", n=0),
    ]
    tables = failures(pa.Table.from_pylist(rows, schema=BREAKDOWN))
    seven, other = tables["user"]
    assert (seven["group"], seven["n"], other["group"]) == ("7", 4, "other")
    means = seven["of"]["name"]
    assert (means["correct"], means["guess"], means["worse"]) == (60, 75, True)
    assert (means["false_positives"], means["worst"]["predicate"]) == (2, "lock")
