from __future__ import annotations

from typing import Any

import pytest

from birthmark.predictor.models.forest.kind import in_words

LOCK = {"column": "suffix", "value": ".lock", "by": 0.4, "n_true": 381, "n": 414}
USER = {"column": "uid", "value": 5, "by": -0.02, "n_true": 3, "n": 90}
NAME = {"column": "name.share_1s", "value": 255, "by": 0.1, "n_true": None, "n": None}
BECAUSE: list[dict[str, Any]] = [
    LOCK | {"text": "381 of 414 files named *.lock"},
    USER | {"text": "3 of 90 files of user 5"},
    NAME | {"text": "100% of the latest files of this name lived at most 1 s"},
]


@pytest.mark.parametrize(
    ("share", "because", "words"),
    [
        (
            0.82,
            BECAUSE,
            "as 381 of 414 files named *.lock were;"
            " 100% of the latest files of this name lived at most 1 s",
        ),
        (0.02, BECAUSE, "as 3 of 90 files of user 5 were"),
        (0.82, [], "82% of files like it, 25% of all"),
    ],
)
def test_a_forest_is_explained_by_counts_of_files_that_are_alike(
    share: float, because: list[dict[str, Any]], words: str
) -> None:
    evidence = {"share": share, "usual": 0.25, "rows": 1200, "because": because, "unseen": []}
    assert in_words(evidence) == words  # type: ignore[arg-type]
