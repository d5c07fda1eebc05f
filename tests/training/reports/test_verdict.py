"""The three sentences that lead reports."""

from __future__ import annotations

from typing import Any

import pytest

from birthmark.training.reports.verdict import Before, Night, of_nights, of_test

MANIFEST = {
    "compared_with": "20260101T000000Z-abcdef",
    "decision": {"champion": 91.0, "candidate": 92.5, "day": "2026-01-01"},
}


def rows(name: str = "lock", correct: float = 95.0, **more: Any) -> list[dict[str, Any]]:
    """Return the rows of a predicate at both thresholds."""
    own = {"subject": "file", "predicate": name, "n": 1000, "correct": correct, "guess": 80.0}
    own |= {"standing": "holds", "block_seconds": 3600, "false_positives": 0.5, **more}
    return [{**own, "point": "accurate"}, {**own, "point": "bounded"}]


def test_it_has_the_accuracy_and_the_error_reduction() -> None:
    answers = {"n": 1000, "n_unsure": 400, "n_false_positive": 5, "n_false_negative": 1}
    found = of_test([*rows(), *rows("empty", 85.0)], [answers])
    assert found is not None
    assert found.right == (
        "90.00% if each answer must be a yes or a no (mean of 2 predicates)."
        " Accuracy when decided: 99.00%; coverage: 60.00%."
    )
    guess = "always giving the majority answer (80.00%)"
    assert found.compared.startswith(f"50% fewer errors than {guess}.")
    assert found.to_do == "Nothing: every bound holds."


def test_there_is_none_without_a_test() -> None:
    assert of_test(rows(n=0)) is None


def test_it_is_compared_with_the_version_before() -> None:
    found = of_test(rows(), before=Before.of(MANIFEST))
    assert found is not None
    assert found.compared.endswith(
        "When it was trained, its accuracy was 92.50% on 2026-01-01, and that of"
        " 20260101T000000Z-abcdef, published before, 91.00%."
    )
    found = of_test(rows(), before=Before.of({**MANIFEST, "decision": None}))
    assert found is not None
    assert "birthmark evaluate --version 20260101T000000Z-abcdef" in found.compared
    assert Before.of({"compared_with": None}) is None


@pytest.mark.parametrize(
    ("case", "to_do"),
    [
        ({"standing": "shown broken"}, "Beware of a yes to lock: more are wrong"),
        ({"standing": "above it today"}, "Beware of a yes to lock: more are wrong"),
        ({"correct": 70.0}, "Do not rely on lock: always giving the majority answer is better."),
        ({"block_seconds": 2}, "Test it on a whole day: this time is too short"),
        (
            {"standing": "not enough seen"},
            "Nothing: no bound is shown broken; 1 of 1 need more days",
        ),
    ],
)
def test_it_says_what_to_do(case: dict[str, Any], to_do: str) -> None:
    found = of_test(rows(**case))
    assert found is not None
    assert found.to_do.startswith(to_do)


def test_the_two_most_urgent_things_to_do_come_first() -> None:
    tried = [row for n in range(5) for row in rows(f"p{n}", 70.0, standing="shown broken")]
    found = of_test(tried, learned=3)
    assert found is not None
    assert found.to_do.startswith("Test it on a later day: 3 files may be training data.")
    assert "Beware of a yes to p0, p1, p2 and 2 more" in found.to_do
    assert "Do not rely" not in found.to_do


def test_an_audit_is_compared_with_the_one_before() -> None:
    row = {"n": 1000, "n_unsure": 500, "decided": 50.0, "right": 98.0, "guess": 75.0}
    nights = [Night.of("monday", [{**row, "right": 96.0}]), Night.of("tuesday", [row])]
    found = of_nights(nights, [])
    accuracy = "Accuracy when decided 98.00%, coverage 50.00% of 1,000 answers."
    assert found.right == accuracy
    assert "is correct in 75.00% of all. In monday: accuracy when decided" in found.compared
    assert found.to_do == "Nothing: no bound is shown broken."
    assert of_nights(nights[1:], ["a", "b", "c"]).to_do == "a b"
    assert "There is no earlier audit." in of_nights(nights[1:], []).compared
    unknown = of_nights([Night.of("monday", [{**row, "guess": None}])], [])
    assert unknown.compared == "There is no earlier audit."
