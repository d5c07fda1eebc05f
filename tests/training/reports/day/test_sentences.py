from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from birthmark.training.reports.day import sentences
from birthmark.training.reports.day.figures import Figures

SUMS: dict[str, Any] = {
    "ops": 86_400,
    "errors": 864,
    "bytes_read": 3 << 30,
    "bytes_written": 1 << 20,
    "latency_mean": 350.4,
    "latency_p99": 4_200,
}
ROW = {**SUMS, "ops": 43_200, "mostly": "getattr"}
DAY = Figures(
    dataset="monday",
    since="2026-11-23T00:00:00+00:00",
    until="2026-11-24T00:00:00+00:00",
    servers=["192.0.2.20"],
    total=SUMS,
    busiest={
        "user": [{"name": 1001, **ROW}],
        "client": [{"name": "192.0.2.10", **ROW}],
        "directory": [{"name": "/home/ann", **ROW, "mostly": ""}],
        "file": [],
    },
    users={"1001": 43_200, "1002": 43_200},
    births=1_000,
    endings={".o": 600, ".c": 400},
)


def test_the_load_is_a_day_of_operations_its_latency_and_the_busiest_of_each_kind() -> None:
    assert list(sentences.load(DAY)) == [
        "86,400 operations in 24 hours, 1.0 a second; 3 GB were read and 1 MB written;"
        " 1,000 files were created.",
        "Replies took 350 µs on average, and 99% of them at most 4.2 ms.",
        "The busiest user was 1001: 50.00% of all, mostly getattr.",
        "The busiest client was 192.0.2.10: 50.00% of all, mostly getattr.",
        "The busiest directory was /home/ann: 50.00% of all.",
    ]


def test_without_a_reply_no_latency_is_given() -> None:
    silent = replace(DAY, total=SUMS | {"latency_mean": None, "latency_p99": None})
    assert not any(line.startswith("Replies") for line in sentences.load(silent))


def test_without_an_earlier_day_nothing_is_compared() -> None:
    assert list(sentences.changes(DAY, None)) == [
        "There is no earlier day of this server to compare with."
    ]


def test_a_day_like_the_one_before_is_reported_as_such() -> None:
    assert list(sentences.changes(DAY, DAY)) == ["The load was that of 2026-11-23, within 20%."]


def test_sums_that_changed_notably_are_named_with_their_direction() -> None:
    now = replace(DAY, total=SUMS | {"ops": 2 * 86_400, "latency_mean": 175.2}, births=500)
    assert list(sentences.changes(now, DAY)) == [
        "Compared with 2026-11-23: 100% more operations a second, 50% fewer files created a"
        " second, mean latency 50% lower."
    ]


def test_a_sum_that_was_zero_before_has_no_percentage() -> None:
    before = replace(DAY, total=SUMS | {"errors": 0})
    assert list(sentences.changes(DAY, before)) == [
        "Compared with 2026-11-23: errors a second, none before."
    ]


def test_a_day_of_another_length_is_compared_by_rates() -> None:
    half = {name: SUMS[name] // 2 for name in ("ops", "errors", "bytes_read", "bytes_written")}
    noon = "2026-11-24T12:00:00+00:00"
    now = replace(DAY, since=DAY.until, until=noon, total=SUMS | half, births=500)
    assert list(sentences.changes(now, DAY)) == ["The load was that of 2026-11-23, within 20%."]


def test_new_users_and_new_endings_are_named_with_their_shares() -> None:
    now = replace(
        DAY,
        users={"1001": 43_200, "7": 21_600},
        endings={".o": 500, ".rs": 300, ".c": 195, ".rare": 5},
    )
    assert list(sentences.changes(now, DAY))[1:] == [
        "New users: 7 (25.00%).",
        "New among the created files: .rs (30.00%).",
    ]


def test_a_long_list_is_cut_with_the_number_of_the_others() -> None:
    now = replace(DAY, users={str(user): 864 for user in range(2000, 2008)})
    (_, new) = sentences.changes(now, DAY)
    assert new.endswith("2004 (1.00%), 3 more.")


def answer(predicate: str, yes: int, wrong: int, subject: str = "file") -> dict[str, Any]:
    return {
        "subject": subject,
        "predicate": predicate,
        "n": 1_000,
        "n_yes": yes,
        "n_false_positive": wrong,
    }


def test_the_models_answers_are_in_words_most_frequent_first() -> None:
    rows = [
        answer("lock", 100, 0),
        answer("lifespan<=1", 200, 1),
        answer("size>1M", 0, 0),
        answer("lock", 300, 0, "name"),
    ]
    assert list(sentences.model(rows)) == [
        "A file is gone within a second: predicted for 200 of 1,000 files, correct for 99.50%"
        " of them.",
        "A file is a lock: predicted for 100 of 1,000 files, correct for 100.00% of them.",
    ]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(59, "59 seconds"), (150, "2.5 minutes"), (86_400, "24 hours"), (172_800, "2 days")],
)
def test_a_length_of_time_has_the_largest_unit_of_which_there_are_two(
    seconds: float, words: str
) -> None:
    assert sentences.duration(seconds) == words
