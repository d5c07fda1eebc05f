from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from birthmark.training.nightly.horizon import AHEAD, horizon
from birthmark.training.nightly.intake import Dataset

MONDAY = date(2001, 10, 22)
NOW = datetime(2001, 12, 1, tzinfo=UTC)


def dataset(day: int, births: int, name: str = "") -> Dataset:
    """Return a dataset of one day, from midnight to midnight less a second."""
    on = MONDAY + timedelta(days=day)
    since = datetime(on.year, on.month, on.day, tzinfo=UTC)
    return Dataset(Path(name or f"day{day}"), since, since + timedelta(hours=23), {on: births})


def found(*held: Dataset, now: datetime = NOW, least: float = 0.1) -> tuple[list[str], set[str]]:
    """Return the names of the datasets of the window, and of those left out."""
    seen = horizon(sorted(held, key=lambda each: each.until), 7, least, now)
    assert seen is not None
    return [each.path.name for each in seen.window], set(seen.left_out)


def test_where_there_are_no_datasets_there_is_no_horizon() -> None:
    assert horizon([], 7, 0.1, NOW) is None


def test_the_window_ends_at_the_newest_dataset() -> None:
    days = [dataset(day, 100) for day in range(10)]
    assert found(*days) == ([f"day{day}" for day in range(3, 10)], set())


def test_a_dataset_after_the_clock_is_left_out() -> None:
    days = [dataset(0, 100), dataset(1, 100), dataset(2, 100)]
    noon = datetime(2001, 10, 23, 12, tzinfo=UTC)
    assert found(*days, now=noon) == (["day0", "day1"], {"day2"})
    assert found(*days, now=days[2].until - AHEAD) == (["day0", "day1", "day2"], set())
    seen = horizon(days, 7, 0.1, datetime(1970, 1, 1, tzinfo=UTC))
    assert seen is not None
    assert (seen.window, len(seen.left_out)) == ([], 3)


def test_a_window_with_far_fewer_births_than_the_fullest_does_not_say_how_late_it_is() -> None:
    days = [dataset(day, 100) for day in range(7)]
    assert found(*days, dataset(30, 69)) == ([each.path.name for each in days], {"day30"})
    assert found(*days, dataset(30, 70)) == (["day30"], set())
    assert found(*days, dataset(30, 1), least=0) == (["day30"], set())
    # good data that comes after it is learned from as if it were not there
    assert found(*days, dataset(30, 1), dataset(7, 50)) == (
        [f"day{day}" for day in range(1, 8)],
        {"day30"},
    )


def test_a_quiet_day_among_others_is_no_reason() -> None:
    days = [dataset(day, 100) for day in range(6)]
    assert found(*days, dataset(6, 0)) == ([f"day{day}" for day in range(7)], set())


def test_a_gap_longer_than_the_window_is_reported_while_the_window_begins_after_it() -> None:
    before = [dataset(0, 50), dataset(1, 50)]
    seen = horizon([*before, dataset(20, 50)], 7, 0.1, NOW)
    assert seen is not None
    assert [each.path.name for each in seen.window] == ["day20"]
    assert seen.gap == (
        "no births from 2001-10-23 to 2001-11-11, longer than the window of 7 days: earlier"
        " births are not used"
    )
    for day in (8, 9):  # a week and a day; the window includes the first
        seen = horizon([*before, dataset(day, 50)], 7, 0.1, NOW)
        assert seen is not None
        assert (seen.gap is None) == (day == 8)
