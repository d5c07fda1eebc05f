from __future__ import annotations

import pytest

from birthmark.features import HISTORY
from birthmark.predictor.models.forest.evidence import of_history


@pytest.mark.parametrize(
    ("column", "byte", "words"),
    [
        ("name.share_5s", 255, "100% of the latest files of this name lived at most 5 s"),
        ("dir.share_empty", 128, "50% of the latest files in this directory were empty"),
        ("caller.known", 0, "nothing is known of earlier files by this user at this client"),
        ("name.known", 4, "of 3 earlier files of this name the end is known"),
        ("name.write_only", 2, "the latest file of this name was hardly read"),
        ("name.size", 1, "the latest file of this name had 0 bytes"),
        # Four steps to a doubling (features.history.STATISTICS): 10 is 4, and 42 is 1,024.
        ("name.size", 42, "the latest file of this name had 1 KB"),
        ("name.life", 10, "the latest file of this name lived 0.004 s"),
        ("name.since_birth", 42, "the latest file of this name was created 1.02 s before"),
    ],
)
def test_a_byte_of_a_history_has_a_phrase(column: str, byte: int, words: str) -> None:
    assert of_history(column, byte) == words


def test_every_column_of_a_history_has_words() -> None:
    for column, _ in HISTORY:
        assert of_history(column, 0)
        assert of_history(column, 200)
