from __future__ import annotations

import pytest

from birthmark.predictor.models.able.kind import in_words

LAST = {"attribute": "last", "value": "tex"}


@pytest.mark.parametrize(
    ("path", "default", "words"),
    [
        (
            [LAST, {"attribute": "mode", "value": 0o600}],
            False,
            "last tex, mode 0600  in 3 of 4 files",
        ),
        (
            [{"attribute": "middle", "value": None}],
            False,
            "middle none  in 3 of 4 files",
        ),
        ([LAST], True, "last tex, not seen before  in 3 of 4 files"),
        ([], False, "any file  in 3 of 4 files"),
    ],
)
def test_a_tree_path_is_told_step_by_step(
    path: list[dict[str, object]], default: bool, words: str
) -> None:
    evidence = {"path": path, "default": default, "n_true": 3, "n": 4}
    assert in_words(evidence) == words
