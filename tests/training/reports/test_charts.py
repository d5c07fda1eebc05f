from __future__ import annotations

import pytest

from birthmark.training.reports.charts import lifespan_axis, lifespan_box, line, size_box


def test_sizes_lie_on_a_logarithmic_axis_from_0_to_4_gib() -> None:
    """Section 6.2: log-scale, ranging from 0 to 2**32 bytes."""
    assert size_box([0, 1, 2**16 - 1, 2**32 - 1, 2**40]) == [0, 100 / 32, 50, 100, 100]
    assert size_box(None) is None


@pytest.mark.parametrize(
    ("longest", "end", "label"),
    [
        (0.5, 60, "1 min"),
        (61, 120, "2 min"),
        (3600, 3600, "1 h"),
        (7201, 6 * 3600, "6 h"),
        (80_000, 86_400, "24 h"),
        (10 * 86_400 + 1, 11 * 86_400, "11 days"),
    ],
)
def test_the_lifespan_axis_ends_at_a_round_time_beyond_every_box(
    longest: float, end: float, label: str
) -> None:
    assert lifespan_axis([None, [0, longest]]) == (end, label)


def test_lifespans_lie_on_a_linear_axis() -> None:
    assert lifespan_box([0, 43_200, 86_400], 86_400) == [0, 50, 100]
    assert lifespan_box(None, 86_400) is None


def test_a_line_leaves_out_what_is_unknown() -> None:
    known: list[dict[str, float | None]] = [{"minfrac": 0.75, "x": 100}, {"minfrac": 1.0, "x": 25}]
    rows = [known[0], {"minfrac": 0.9, "x": None}, known[1]]
    assert line(rows, "x", 0.75) == [(0, 0), (100, 75)]
