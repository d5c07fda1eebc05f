"""The coordinates of the page's charts."""

from __future__ import annotations

import pytest

from birthmark.serving.page.charts import chart, ticks


@pytest.mark.parametrize(
    ("times", "places"),
    [
        ([], []),
        (["a"], [0]),
        (["a", "b"], [0, 1]),
        (["a", "a", "a"], [0]),
        (["a", "a", "b"], [0, 2]),
        (["a", "b", "c", "d", "e"], [0, 2, 4]),
    ],
)
def test_labels_of_an_axis_are_unique(times: list[str], places: list[int]) -> None:
    assert ticks(times) == places


def test_the_labels_of_a_chart_differ() -> None:
    found = chart("Requests", "a second", ["10:05"] * 5, rate=[0.0] * 5)
    assert [text for _, text in found["x"]] == ["10:05"]
    assert len({text for _, text in found["y"]}) == 3
