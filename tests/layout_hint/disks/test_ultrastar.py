"""The drives of a family of which little is printed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from birthmark.layout_hint.disks.ultrastar import MEMBERS, smallest, ultrastar


@pytest.mark.parametrize(("heads", "gigabytes"), [(2, 9.1), (3, 18.3), (6, 36.7), (12, 73.4)])
def test_each_member_holds_about_what_its_name_says(heads: int, gigabytes: float) -> None:
    drive = ultrastar(heads)
    assert drive.sectors * 512 / 1e9 == pytest.approx(gigabytes, rel=0.02)
    assert drive.assumed


@pytest.mark.parametrize("heads", MEMBERS)
def test_the_average_seek_is_the_one_printed(heads: int) -> None:
    drive = ultrastar(heads)
    for points, average in ((drive.seek, 4.9), (drive.write_seek, 5.4)):
        assert all(before < after for before, after in pairwise(ms for _, ms in points))
        assert _average(points, drive.cylinders) == pytest.approx(average, rel=0.02)


def _average(points: list[tuple[int, float]], cylinders: int) -> float:
    """Return the mean over all distances, as often as pairs of cylinders have each."""
    total = weight = 0.0
    for (near, soon), (far, late) in pairwise(points):
        for distance in range(near, far, 7):
            share = cylinders - distance
            total += share * (soon + (late - soon) * (distance - near) / (far - near))
            weight += share
    return total / weight


def test_the_smallest_that_holds_a_fifth_more_is_taken() -> None:
    assert smallest(5e9).heads == 2
    assert smallest(7.4e9).heads == 3
    assert smallest(50e9).heads == 12
    with pytest.raises(ValueError, match=r"90\.0 GB: expected less"):
        smallest(90e9)
