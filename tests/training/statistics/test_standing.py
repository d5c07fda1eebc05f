from __future__ import annotations

from typing import Any

import pytest

from birthmark.training.statistics.standing import (
    BURST,
    STYLES,
    Standing,
    by_key,
    in_words,
    of_row,
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
    ("interval", "expected"),
    [
        ((0.2, 1.0), "holds"),
        ((0.0, 1.1), "not enough seen"),
        ((0.9, 3.0), "not enough seen"),
        ((1.36, 2.84), "above it today"),
        ((None, None), "not enough seen"),
    ],
)
def test_a_bound_stands_by_which_side_of_it_all_of_the_interval_is_on(
    interval: tuple[float | None, float | None], expected: str
) -> None:
    assert standing(1.0, interval, BURST) == expected


def test_a_bound_shown_broken_is_so_whatever_today_was_like() -> None:
    assert standing(1.0, (0.0, 0.1), BURST, broken=True) == "shown broken"
    assert standing(1.0, (None, None), BURST, broken=True) == "shown broken"


def test_blocks_shorter_than_a_burst_tell_nothing() -> None:
    assert of_row(row()) == "holds"
    assert of_row(row(block_seconds=BURST - 1)) == "not enough seen"
    assert of_row(row(false_positives_low=None, false_positives_high=None)) == "not enough seen"


def test_there_is_no_standing_without_a_bound_or_a_yes() -> None:
    assert of_row(row(bound=None)) is None
    assert of_row(row(abstained=True)) is None


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
