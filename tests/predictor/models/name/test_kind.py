from __future__ import annotations

import pytest

from birthmark.predictor.models.name.kind import NameEvidence, in_words


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ({"component": "tex$", "n_m": 812, "n_a": 1830}, "as 812 of 1,830 files named *.tex were"),
        ({"component": None, "n_m": None, "n_a": None}, "no part of the name says so"),
    ],
)
def test_a_name_component_is_described_with_its_counts(evidence: NameEvidence, words: str) -> None:
    assert in_words(evidence) == words
