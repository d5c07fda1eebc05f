"""Stacks of optimizations, as Python asks for them."""

from __future__ import annotations

import pytest

from birthmark.layout_hint.disks.ultrastar import smallest
from birthmark.research.loads import read_load
from birthmark.research.stacks import BLOCK, MB, defaults, serve

LOAD = read_load("P")
BASE = defaults("rich", LOAD.storage_bytes, LOAD.segment_kb)


def test_memory_is_a_share_of_the_storage_or_a_size() -> None:
    assert BASE["cache_blocks"] * BLOCK == pytest.approx(0.01 * LOAD.storage_bytes, rel=0.001)
    poor = defaults("poor", LOAD.storage_bytes, 16, disks=4)
    assert (poor["cache_blocks"] * BLOCK, poor["pool_blocks"]) == (8 * MB, 0)
    rich = defaults("rich", LOAD.storage_bytes, 16, disks=4)
    assert rich["cache_blocks"] * 4 == pytest.approx(BASE["cache_blocks"], abs=4)


def test_a_faster_drive_serves_the_same_load_sooner_and_others_wait_less() -> None:
    drive = smallest(LOAD.storage_bytes)
    slow = {"seek": 8.0, "rpm": 0.125}
    stacks = [(BASE, {}), (BASE, {"rpm": 1.2}), (BASE, slow), (BASE | {"open": True}, slow)]
    same, faster, dependent, apart = serve(LOAD.shape(10_000), 1, drive, stacks)
    assert faster["reads"]["response_ms"] < 0.97 * same["reads"]["response_ms"]
    assert dependent["all"]["response_ms"] > 1.5 * same["all"]["response_ms"]
    assert apart["all"]["response_ms"] > 1.2 * dependent["all"]["response_ms"]
    assert serve(LOAD.shape(10_000), 1, drive, stacks[:1]) == [same]


def test_names_the_run_of_an_impossible_stack() -> None:
    drive = smallest(LOAD.storage_bytes)
    with pytest.raises(ValueError, match=r"runs\.1: disks: expected 1 to 1024"):
        serve(LOAD.shape(100), 1, drive, [(BASE, {}), (BASE | {"disks": 0}, {})])
    with pytest.raises(ValueError, match=r"runs\.0: scale\.rpm: expected"):
        serve(LOAD.shape(100), 1, drive, [(BASE, {"rpm": 0})])
    with pytest.raises(ValueError, match="unknown field `disk`"):
        serve(LOAD.shape(100), 1, drive, [(BASE | {"disk": 1}, {})])
