from __future__ import annotations

import pytest

from birthmark.serving.answers.evidence import in_words
from birthmark.serving.messages.responses import NameEvidence


@pytest.mark.parametrize(
    ("evidence", "words"),
    [
        ({"component": "tex$", "n_m": 812, "n_a": 1830}, "tex$  in 812 of 1,830 files"),
        ({"component": None, "n_m": None, "n_a": None}, "no part of the name says so"),
    ],
)
def test_a_name_component_is_told_with_its_counts(evidence: NameEvidence, words: str) -> None:
    assert in_words(evidence) == words


def test_a_rule_is_told_with_those_that_speak_against_it() -> None:
    against = {"component": "c$", "n_m": 1.0, "n_a": 12_000.0, "upper": 0.01}
    rule: dict[str, object] = {"component": "^conftest", "n_m": 20.0, "n_a": 21.5, "lower": 0.8}
    said = in_words({**rule, "against": [against]})
    assert said == "^conftest  in 20 of 21.5 files; against it c$  in 1 of 12,000"
    assert in_words({**rule, "against": []}) == "^conftest  in 20 of 21.5 files"


def test_a_forest_is_told_by_what_moved_it_most() -> None:
    because = [
        {"column": "mode", "value": 0o600, "by": 0.31},
        {"column": "name.share_1s", "value": 255, "by": -0.02},
    ]
    said = in_words({"share": 0.82, "usual": 0.25, "rows": 1200, "because": because})
    assert said == ("82% of files like it, 25% of all: mode 0600 +31%, name.share_1s 255 -2%")


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
