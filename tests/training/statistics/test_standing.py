from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from birthmark.predictor.control import Ledger
from birthmark.training.statistics.standing import (
    BURST,
    STYLES,
    Standing,
    by_key,
    in_words,
    of_test,
    over,
    standing,
    summary,
)


def row(**columns: Any) -> dict[str, Any]:
    return {
        "version": "now",
        "subject": "file",
        "predicate": "lock",
        "n": 5000,
        "bound": 1.0,
        "false_positives_low": 0.2,
        "false_positives_high": 0.6,
        "block_seconds": BURST,
        "broken": False,
        "standing": "holds",
        **columns,
    }


@pytest.mark.parametrize(
    ("outcomes", "false_positives", "expected"),
    [
        (0, 0, "not enough seen"),
        (5000, 10, "holds"),
        (5000, 49, "not enough seen"),
        (5000, 70, "above it today"),
        (5000, 90, "shown broken"),
    ],
)
def test_a_bound_stands_by_the_two_counts(
    outcomes: int, false_positives: int, expected: str
) -> None:
    assert standing(Ledger(0.01, outcomes, false_positives)) == expected


def test_errors_of_one_burst_show_less_than_as_many_apart_and_short_blocks_nothing() -> None:
    rows, apart, burst = np.full(50, 100.0), np.full(50, 2.0), np.zeros(50)
    burst[7] = 100
    assert of_test(0.01, apart, rows, BURST) == "shown broken"
    assert of_test(0.01, burst, rows, BURST) == "not enough seen"
    assert of_test(0.01, apart, rows, BURST - 1) == "not enough seen"


def test_a_bound_that_holds_is_hardly_ever_broken_though_blocks_scatter() -> None:
    """Blocks whose own rates scatter about the bound, as those of real minutes do."""
    random, rows = np.random.default_rng(11), np.full(40, 200.0)
    rates = random.gamma(2, 0.005, (500, 40))
    found = [of_test(0.01, random.poisson(200 * each).astype(float), rows, BURST) for each in rates]
    assert found.count(Standing.BROKEN) <= 0.05 * len(found)


def test_every_bound_holds_only_if_each_one_does() -> None:
    holds, unseen = Standing.HOLDS, Standing.UNSEEN
    assert summary([holds, holds]) == "every bound holds"
    assert summary([unseen, holds, unseen]) == "holds 1, not enough seen 2"
    assert summary([]) == "there is no bound"


def test_a_test_that_was_too_short_is_reported() -> None:
    short = row(block_seconds=2, standing="not enough seen")
    assert "the time is too short" in in_words([short])
    assert in_words([row(), short]) == "holds 1, not enough seen 1"
    assert in_words([row(block_seconds=1, n=0, standing="not enough seen")]).endswith("seen 1")


def test_the_published_version_counts_or_else_the_one_with_most_answers() -> None:
    old, more = row(version="old", n=9000), row(version="older", n=9500)
    assert by_key([row(n=10), old], "now")["lock"]["n"] == 10
    assert by_key([row(n=0), old], "now")["lock"]["n"] == 9000
    assert by_key([old, more], "now")["lock"]["n"] == 9500
    assert by_key([row(subject="name"), row(standing=None)], "now").keys() == {"name:lock"}


def test_an_audit_of_before_there_were_standings_tells_nothing() -> None:
    assert by_key([{"version": "now", "n": 9}], "now") == {}


def test_exceeded_bounds_are_listed_by_false_positives() -> None:
    rows = [
        row(standing="above it today", false_positives=2.0),
        row(standing="shown broken", false_positives=3.0),
        row(standing="not enough seen", false_positives=9.0),
        row(standing="shown broken", false_positives=None, n=0),
    ]
    assert [each["false_positives"] for each in over(rows)] == [3, 2]


def test_each_has_a_colour_of_its_own() -> None:
    assert len(set(STYLES.values())) == len(STYLES) == len(Standing)
