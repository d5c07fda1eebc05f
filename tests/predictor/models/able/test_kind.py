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
            "as 30 of 40 files with last piece tex with mode 0600 were",
        ),
        (
            [{"attribute": "middle", "value": None}],
            False,
            "as 30 of 40 files without a middle piece were",
        ),
        (
            [LAST],
            True,
            "as 30 of 40 files with last piece tex were; no such file had the rest of it",
        ),
        ([], False, "as 30 of 40 files were"),
    ],
)
def test_a_tree_path_is_described_step_by_step(
    path: list[dict[str, object]], default: bool, words: str
) -> None:
    evidence = {"path": path, "default": default, "n_true": 30, "n": 40}
    assert in_words(evidence) == words


def test_few_files_are_no_evidence() -> None:
    found = in_words({"path": [LAST], "default": False, "n_true": 3, "n": 3})  # type: ignore[list-item]
    assert found == "fewer than 8 training files with last piece tex show it"
