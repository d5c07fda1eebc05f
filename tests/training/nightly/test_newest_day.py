from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from birthmark.training.learn.train import Lives
from birthmark.training.nightly.newest_day import Period, complete_day, newest

Make = Callable[..., Any]
MONDAY = datetime(2001, 10, 22, tzinfo=UTC)
HOUR = timedelta(hours=1)


@pytest.fixture
def seen(life: Make, files_of: Make, names_of: Make) -> Callable[..., Lives]:
    def make(begin: float, end: float) -> Lives:
        """Return a birth every half hour, in hours since Monday began, up to `end`."""
        hours = [begin + 0.5 * n for n in range(int(2 * (end - begin)) + 1)]
        rows = [life(b"%d" % n, 3600 * h, 0.0, max_size=0) for n, h in enumerate(hours)]
        return Lives(("days",), files_of(*rows), names_of(*rows))

    return make


def test_the_day_that_goes_on_is_not_complete(seen: Callable[..., Lives]) -> None:
    tuesday = Period(MONDAY + 24 * HOUR, MONDAY + 48 * HOUR, "2001-10-23")
    assert newest(seen(0, 50), "UTC") == tuesday
    assert newest(seen(0, 70), "UTC") == tuesday
    assert newest(seen(0, 72), "UTC") != tuesday


def test_a_quiet_hour_at_either_end_leaves_a_day_complete(seen: Callable[..., Lives]) -> None:
    assert complete_day(seen(0.9, 23.4), "UTC") == MONDAY.date()
    for begin, end in ((1.1, 23.6), (0.5, 22.5)):
        assert complete_day(seen(begin, end), "UTC") is None, (begin, end)


def test_a_single_day_is_replaced_by_its_newest_quarter(
    seen: Callable[..., Lives],
) -> None:
    assert newest(seen(0, 23.5), "UTC") == Period(MONDAY + 18 * HOUR)


def test_days_are_those_of_the_time_zone(seen: Callable[..., Lives]) -> None:
    """Tokyo is nine hours ahead: its Tuesday ends at 15:00 UTC."""
    found = newest(seen(0, 40), "Asia/Tokyo")
    assert found == Period(MONDAY + 15 * HOUR, MONDAY + 39 * HOUR, "2001-10-23")


def test_only_the_part_of_the_day_after_the_training_data_counts(
    seen: Callable[..., Lives],
) -> None:
    learned = MONDAY + 26 * HOUR
    found = newest(seen(0, 50), "UTC", learned)
    assert found is not None
    assert found.since == learned + timedelta(microseconds=1)
    assert newest(seen(0, 50), "UTC", MONDAY + 48 * HOUR) is None


def test_a_period_divides_lives_into_those_before_and_those_in_it(
    seen: Callable[..., Lives],
) -> None:
    lives = seen(0, 50)
    period = newest(lives, "UTC")
    assert period is not None
    assert [len(part.files) for part in period.split(lives)] == [48, 48]


def test_without_a_complete_day_the_newest_quarter_of_the_births_serves(
    seen: Callable[..., Lives],
) -> None:
    lives = seen(2, 9.5)
    quarter = Period(MONDAY + 8 * HOUR)
    assert newest(lives, "UTC") == quarter
    assert newest(lives, "UTC", MONDAY) == quarter
    after = MONDAY + 8.5 * HOUR
    assert newest(lives, "UTC", after) == Period(MONDAY + 9 * HOUR)
    assert newest(lives, "UTC", MONDAY + 9 * 24 * HOUR) == quarter


def test_where_no_file_was_born_there_is_none(files_of: Make, names_of: Make) -> None:
    assert newest(Lives(("monday",), files_of(), names_of()), "UTC") is None
