"""What latencies tell of a server's memory, on reads of which it is known which missed."""

from __future__ import annotations

import numpy as np
import pytest

from birthmark.data.common.arrays import Floats
from birthmark.storage.what_if.memory import memory_of

MB = 1 << 20


def reads(memory: float, warm: float, slower: float, count: int = 6000) -> tuple[Floats, Floats]:
    """Return latencies and distances of reads; one in three is of data not read before."""
    random = np.random.default_rng(5)
    distance = np.exp(random.uniform(np.log(4096), np.log(200 * MB), count))
    distance[random.random(count) < 1 / 3] = np.inf
    hit = np.where(np.isfinite(distance), distance < memory, random.random(count) < warm)
    latency = 60 * np.exp(0.4 * random.standard_normal(count))
    return np.where(hit, latency, latency * slower), distance


@pytest.mark.parametrize("megabytes", [2, 20, 90])
def test_the_size_is_where_reads_begin_to_be_slow(megabytes: int) -> None:
    found = memory_of(*reads(megabytes * MB, warm=0.3, slower=20))
    assert found.bounded
    assert found.low <= megabytes * MB <= found.high
    assert found.high < 1.2 * found.low
    assert found.warm == pytest.approx(0.3, abs=0.05)
    assert 0.25 < found.missed.mean() < 0.6


def test_gives_only_a_lower_bound_if_nothing_missed() -> None:
    latency, distance = reads(np.inf, warm=1.0, slower=20)
    found = memory_of(latency, distance)
    assert not found.bounded
    assert found.low == pytest.approx(distance[np.isfinite(distance)].max(), rel=1e-3)
    assert not found.missed.any()


def test_a_disk_as_quick_as_the_cache_tells_nothing() -> None:
    assert not memory_of(*reads(20 * MB, warm=0.5, slower=1.0)).bounded


def test_a_few_reads_tell_nothing() -> None:
    assert not memory_of(*reads(20 * MB, warm=0.3, slower=20, count=50)).bounded


def test_gives_the_share_but_not_the_size_if_only_first_reads_missed() -> None:
    found = memory_of(*reads(np.inf, warm=0.6, slower=20))
    assert not found.bounded
    assert found.warm == pytest.approx(0.6, abs=0.05)
    assert found.missed.sum() > 500
