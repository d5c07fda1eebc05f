"""How far a prediction is off."""

from __future__ import annotations

import math

import pytest

from birthmark.storage.what_if.held_out import METRICS, HeldOut, Row


def row(kind: str, calls: int, captured: float, predicted: float) -> Row:
    return Row(kind, calls, dict.fromkeys(METRICS, captured), dict.fromkeys(METRICS, predicted))


def test_kinds_that_are_too_slow_do_not_make_up_for_those_that_are_too_quick() -> None:
    found = HeldOut(
        [
            row("all", 300, 100, 101),
            row("read", 200, 50, 100),
            row("read up to 4 KB", 100, 50, 500),
            row("write", 100, 200, 105),
        ]
    )
    whole = 200 * 50 + 100 * 200
    assert found.error("all", "mean") == pytest.approx(math.log1p((200 * 50 + 100 * 95) / whole))
    assert found.error("all", "p95") == pytest.approx(math.log(1.01))
    assert found.error("read", "mean") == pytest.approx(math.log(2))
    assert found.error("write", "p50") == pytest.approx(math.log(200 / 105))


def test_of_few_calls_the_error_is_not_known() -> None:
    found = HeldOut([row("all", 300, 100, 100), row("commit", 99, 100, 100)])
    assert found.error("commit", "mean") == found.error("rename", "mean") == math.inf
