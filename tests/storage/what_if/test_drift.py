"""Whether a server was the same in both halves of a capture."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from birthmark.storage.what_if.columns import CLASSES
from birthmark.storage.what_if.drift import Drift, drift
from birthmark.storage.what_if.sample import Sample

LOOKUP, READ, WRITE = (CLASSES.index(name) for name in ("lookup", "read", "write"))


def calls(latency: Any, **result: Any) -> Sample:
    """Calls of these latencies, in μs, which came alone."""
    latency = np.asarray(latency, float)
    columns = {each.name: np.zeros(len(latency)) for each in fields(Sample)}
    columns |= {"latency": latency, "kind": np.full(len(latency), LOOKUP)}
    return Sample(**columns | {name: np.asarray(value) for name, value in result.items()})


def test_calls_that_came_alone_tell_how_much_slower_a_server_was() -> None:
    kinds = [LOOKUP] * 100 + [WRITE] * 300
    before = calls([100.0] * 100 + [200.0] * 300, kind=kinds)
    after = calls([150.0] * 100 + [220.0] * 300, kind=kinds)
    found = drift(before, after)
    assert found.kinds == {"lookup": pytest.approx(0.5), "write": pytest.approx(0.1)}
    assert found.all == pytest.approx((150 + 3 * 220) / (100 + 3 * 200) - 1)


def test_calls_are_compared_with_such_of_their_size() -> None:
    small, large = [1000.0] * 100, [60_000.0] * 100
    before = calls([100.0] * 190 + [900.0] * 100, bytes=[1000.0] * 190 + large)
    after = calls([100.0] * 100 + [900.0] * 100, bytes=small + large)
    assert drift(before, after).all == pytest.approx(0)


def test_calls_that_had_to_wait_do_not_count() -> None:
    before = calls([100.0] * 50)
    after = calls([100.0] * 50 + [5000.0] * 50, outstanding=[0] * 50 + [3] * 50)
    assert drift(before, after).all == pytest.approx(0)


def test_reads_do_not_count_because_memory_changes_them() -> None:
    assert drift(calls([100.0] * 50, kind=[READ] * 50), calls([500.0] * 50, kind=[READ] * 50)) == (
        Drift()
    )


def test_few_calls_tell_nothing() -> None:
    assert drift(calls([100.0] * 29), calls([500.0] * 500)) == Drift()
