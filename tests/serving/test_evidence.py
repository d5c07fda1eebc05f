from __future__ import annotations

import pytest

from serving.evidence import in_words
from serving.responses import NameEvidence


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ({"component": "tex$", "n_m": 812, "n_a": 1830}, "tex$  in 812 of 1,830 files"),
        ({"component": None, "n_m": None, "n_a": None}, "no part of the name says so"),
    ],
)
def test_a_name_component_is_told_with_its_counts(evidence: NameEvidence, words: str) -> None:
    assert in_words(evidence) == words


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
