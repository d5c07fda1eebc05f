from __future__ import annotations

import pytest

from birthmark.serving.answers.evidence import in_percent


@pytest.mark.parametrize(
    ("probability", "words"), [(0.9961, "99.61%"), (0.0, "0.00%"), (None, "\N{EN DASH}")]
)
def test_a_probability_is_shown_in_percent(probability: float | None, words: str) -> None:
    assert in_percent(probability) == words
