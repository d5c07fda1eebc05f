"""Loads that are made up, and what they were fitted to.

Tests also research/loads/read.py.
"""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from birthmark.layout_hint.disks.ultrastar import smallest
from birthmark.research.loads import LOADS, Load, read_load
from birthmark.research.papers.io_experiments import plain
from birthmark.research.papers.io_fits import PRINTED
from birthmark.research.stacks import NOTHING, defaults, serve


@pytest.mark.parametrize("name", LOADS)
def test_each_load_misses_about_as_often_as_its_tables_say(name: str) -> None:
    load = read_load(name)
    stacks = [
        (defaults(environment, load.storage_bytes, load.segment_kb) | plain(NOTHING), {})
        for environment in ("poor", "rich")
    ]
    found = serve(load.shape(30_000), 3, smallest(load.storage_bytes), stacks)
    for result, printed in zip(found, PRINTED[name], strict=True):
        assert result["reads"]["miss_ratio"] == pytest.approx(printed[0], rel=0.3)
        assert result["writes"]["miss_ratio"] == pytest.approx(printed[4], rel=0.3)


def test_the_share_of_reads_is_that_of_the_load() -> None:
    load = read_load("P")
    stack = defaults("poor", load.storage_bytes, load.segment_kb)
    (result,) = serve(load.shape(30_000), 1, smallest(load.storage_bytes), [(stack, {})])
    assert result["all"]["requests"] == 24_000
    assert result["reads"]["requests"] / 24_000 == pytest.approx(load.read_share, abs=0.08)


def test_refuses_invalid_loads_by_name() -> None:
    result = read_load("P").model_dump()
    with pytest.raises(ValidationError, match="read_share"):
        Load.model_validate(result | {"read_share": 2})
    shape = read_load("P").shape(100) | {"streams": 0}
    with pytest.raises(ValueError, match="shape: streams: expected 1 to 1000"):
        serve(shape, 1, smallest(5e9), [])
