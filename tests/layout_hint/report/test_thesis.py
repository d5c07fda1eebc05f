"""The thesis's figures, as they come with the package."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from birthmark.layout_hint.report import thesis


def iso(day: str) -> str:
    month, number, year = day.split("/")
    return f"20{year[-2:]}-{month}-{number}"


def test_all_figures_are_the_published_ones(shared: Path) -> None:
    with (shared / "thesis/tables-7.1-7.3-locality.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 48
    for row in rows:
        found = thesis.locality(row["trace"], iso(row["day"]), row["policy"])
        assert found
        for name in ("target", "optimal"):
            published = [float(row[f"{name}_{of}_pct"]) for of in ("total", "read", "write")]
            assert [100 * each for each in getattr(found, name)] == pytest.approx(published)
    columns = {
        "hotname_pct": "HotName",
        "hotdir_pct": "HotDir",
        "hotdir_hotname_pct": "HotDir+HotName",
        "nvram_pct": "NVRAM",
    }
    with (shared / "thesis/table-7.4-elapsed.csv").open() as file:
        for row in csv.DictReader(file):
            for column, policy in columns.items():
                found_gain = thesis.improvement(row["trace"], iso(row["day"]), policy)
                assert found_gain == pytest.approx(float(row[column]) / 100)


def test_a_day_is_compared_with_the_thesiss_of_that_date_or_else_of_that_weekday() -> None:
    tuesday = thesis.locality("CAMPUS", "2001-10-23", "HotDir+HotName")
    assert tuesday
    assert tuesday.target == pytest.approx((0.02248, 0.00086, 0.07183))
    assert tuesday.of_optimal == pytest.approx(0.07183 / 0.07966)
    assert thesis.locality("CAMPUS", "2026-11-24", "HotDir+HotName") == tuesday
    assert thesis.improvement("EECS03", "2003-02-27", "HotDir+HotName") == pytest.approx(-0.0163)
    assert thesis.improvement("CAMPUS", "2001-10-23", "NVRAM") == pytest.approx(0.1099)


@pytest.mark.parametrize(
    ("title", "day", "policy"),
    [
        ("CAMPUS", "2001-10-22", "HotDir"),  # a Monday, on which it trained
        ("CAMPUS", "tuesday", "HotDir"),
        ("CAMPUS", "2001-10-23", "HotWrite"),
        ("HOME", "2001-10-23", "HotDir"),
    ],
)
def test_where_the_thesis_has_nothing_there_is_nothing(title: str, day: str, policy: str) -> None:
    assert thesis.locality(title, day, policy) is None
    assert thesis.improvement(title, day, policy) is None
