"""The days of a comparison, from the bundled samples."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.layout_hint.replay.days import Day, Hours, found_dates, make_days, read_dates
from birthmark.layout_hint.rewrite import build

MORNING = Hours.read("05:00", "06:00")


def test_hours_are_times_of_a_day_in_order() -> None:
    assert Hours.read("10:00", "16:00") == Hours()
    assert Hours.read("00:00", "24:00").of(date(1970, 1, 2)) == (86_400_000_000, 172_800_000_000)
    with pytest.raises(ValueError, match="'25:00' is no time of a day: expected 00:00 to 24:00"):
        Hours.read("25:00", "26:00")
    with pytest.raises(ValueError, match="expected hours that end after they begin"):
        Hours.read("16:00", "10:00")


def test_days_are_a_list_or_a_range() -> None:
    expected = [date(2001, 10, day) for day in (23, 24, 26)]
    assert read_dates("2001-10-23..2001-10-24,2001-10-26") == expected
    with pytest.raises(ValueError, match="'tuesday' is no day: expected YYYY-MM-DD"):
        read_dates("tuesday")
    with pytest.raises(ValueError, match="expected a first day before the last"):
        read_dates("2001-10-24..2001-10-23")


def test_a_trace_without_calls_in_the_hours_is_refused_with_the_hours_it_has() -> None:
    expected = r"no calls from 10:00 to 16:00 UTC: they are from 2026-11-21 05:38.* \(see --from"
    with pytest.raises(ValueError, match=expected):
        found_dates([DAYS[0]], Hours())


def test_a_dataset_has_the_days_of_its_complete_ingests(tmp_path: Path) -> None:
    ingest([DAYS[0]], tmp_path)
    assert found_dates([tmp_path], MORNING) == [date(2026, 11, 21)]
    (tmp_path / "ingests" / "0001.json").unlink()
    with pytest.raises(ValueError, match="there are none at all"):
        found_dates([tmp_path], MORNING)


@pytest.mark.deep
def test_a_day_is_built_once_and_then_taken_as_it_is(tmp_path: Path) -> None:
    result: list[tuple[int, int]] = []
    made = make_days([DAYS[0]], tmp_path, MORNING, progress=lambda *done: result.append(done))
    assert [day.name for day in made] == ["2026-11-21"]
    assert 60 < made[0].seconds < 80
    assert result == [(0, 1), (1, 1)]
    written = (made[0].path / "operations.parquet").stat().st_mtime_ns
    assert make_days([DAYS[0]], tmp_path, MORNING) == made
    assert (made[0].path / "operations.parquet").stat().st_mtime_ns == written
    with pytest.raises(ValueError, match=r"expected a build of .*day2.parquet in these hours"):
        make_days([DAYS[1]], tmp_path, MORNING)


@pytest.mark.deep
def test_a_build_is_a_day_by_the_name_of_its_directory(tmp_path: Path) -> None:
    build([DAYS[1]], tmp_path / "tuesday")
    day = Day.of(tmp_path / "tuesday")
    assert day.name == "tuesday"
    assert 60 < day.seconds < 80
    with pytest.raises(ValueError, match="expected a directory that research replay build made"):
        Day.of(tmp_path)
    (tmp_path / "tuesday" / "manifest.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"manifest.parquet: no such file: expected that"):
        Day.of(tmp_path / "tuesday")
