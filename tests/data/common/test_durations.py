"""Durations, as people write them."""

from __future__ import annotations

import re

import pytest

from birthmark.data.common.durations import duration


@pytest.mark.parametrize(
    ("text", "micros"),
    [("5m", 300_000_000), ("1.5h", 5_400_000_000), ("500ms", 500_000), ("1d", 86_400_000_000)],
)
def test_durations(text: str, micros: int) -> None:
    assert duration(text) == micros


@pytest.mark.parametrize("text", ["5", "m", "0s", "-1m", "5 m", "1" * 30 + "d"])
def test_invalid_durations_are_refused_by_their_text(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        duration(text)
