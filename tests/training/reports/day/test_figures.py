from __future__ import annotations

import pytest

from birthmark.data.ingest.run import ingest
from birthmark.training.reports.day.figures import Figures, ending, measure


@pytest.fixture(scope="module")
def measured(traces: list[str], tmp_path_factory: pytest.TempPathFactory) -> Figures:
    place = tmp_path_factory.mktemp("day")
    (place / "monday.txt").write_text(traces[0])
    ingest([str(place / "monday.txt")], place / "monday")
    return measure(place / "monday")


def test_the_figures_are_those_of_the_operations_and_of_the_births(
    measured: Figures, traces: list[str]
) -> None:
    calls = sum(" C3 " in line for line in traces[0].splitlines())
    creates = sum(" C3 " in line and " create " in line for line in traces[0].splitlines())
    assert (measured.dataset, measured.total["ops"]) == ("monday", calls)
    assert measured.births == creates == sum(measured.endings.values())
    assert sum(row["ops"] for row in measured.busiest["client"]) == calls
    assert measured.seconds > 0


def test_the_figures_survive_a_round_trip(measured: Figures) -> None:
    assert Figures(**measured.to_json()) == measured


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (b"a.tar.gz", ".gz"),
        (b"Makefile", "no ending"),
        (b".profile", "no ending"),
        (b"trailing.", "no ending"),
        (b"a.\xff", ".\\xff"),
        (b"a." + b"x" * 17, "no ending"),
        (None, "no ending"),
    ],
)
def test_an_ending_is_what_follows_the_last_dot(name: bytes | None, expected: str) -> None:
    assert ending(name) == expected
