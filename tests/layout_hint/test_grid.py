"""A grid of conditions: what it may vary, and the one table that comes of it.

Tests also layout_hint/comparison/grid.py.
"""

from __future__ import annotations

import pytest

from birthmark.layout_hint.comparison.grid import read_grid
from birthmark.layout_hint.settings import Options


def test_each_combination_is_a_cell_and_the_last_axis_is_the_fastest() -> None:
    cells = read_grid(["region=2M,4M", "region-inodes=64,128"], Options(cache="16M"))
    assert [cell.name for cell in cells] == [
        "region=2M,region-inodes=64",
        "region=2M,region-inodes=128",
        "region=4M,region-inodes=64",
        "region=4M,region-inodes=128",
    ]
    last = cells[-1].options
    assert (last.region, last.region_inodes, last.cache) == ("4M", 128, "16M")


def test_the_rate_is_that_of_the_workloads_and_no_option() -> None:
    cells = read_grid(["rate=0.01,0.5", "cache=16M"], Options())
    assert [(cell.name, cell.rate) for cell in cells] == [
        ("rate=0.01,cache=16M", 0.01),
        ("rate=0.5,cache=16M", 0.5),
    ]
    assert read_grid(["cache=16M"], Options())[0].rate is None


@pytest.mark.parametrize(
    ("axes", "expected"),
    [
        (["region"], "--grid: expected AXIS=VALUE,VALUE..., found 'region'"),
        (["region=4M,"], "--grid: expected AXIS=VALUE,VALUE..., found 'region=4M,'"),
        (["regoin=4M"], r"--grid: 'regoin' is no axis \(did you mean 'region'\?\)"),
        (["policies=hotdir"], "--grid: 'policies' is no axis"),
        (["region=4M", "region=2M"], "--grid: expected each axis once, found region twice"),
        (["region=4Q"], "--grid: --region: '4Q' is no size"),
        (["pace=slow"], "--grid pace=slow: Input should be 'fast' or 'trace'"),
        (["rate=0"], "--grid rate=0: Input should be greater than 0"),
        (["region-inodes=few"], "--grid region-inodes=few: Input should be a valid integer"),
    ],
)
def test_refuses_invalid_grids(axes: list[str], expected: str) -> None:
    with pytest.raises(ValueError, match=f"^{expected}"):
        read_grid(axes, Options())
