from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from birthmark.predictor.answers.certainty import answer, describe
from birthmark.predictor.answers.operating_points import Levels, OperatingPoints
from birthmark.predictor.predicates import BUILT_IN
from birthmark.predictor.predicates.assignments import assignments_of
from birthmark_native import Certainty

ASSIGNMENTS = assignments_of(BUILT_IN)
KEYS = [key for assignments in ASSIGNMENTS for key in assignments]
POINTS = OperatingPoints(
    accurate=0.5,
    bounded=0.9,
    no=0.1,
    levels=Levels((0.1, 0.3, 0.5, 0.7, 0.9), (0.004, 0.2, 0.4, 0.6, 0.8, 0.996)),
)


def answers_of(scores: dict[str, float], points: dict[str, OperatingPoints]) -> dict[str, Any]:
    """Return by key the answer about one file, and how likely a yes is."""
    columns = {key: np.array([score]) for key, score in scores.items()}
    answers = answer(columns, points, ASSIGNMENTS, "bounded")
    return {key: (each.word(0), each.probability(0)) for key, each in answers.items()}


files = st.fixed_dictionaries({key: st.floats(0, 1) for key in KEYS})


@pytest.mark.deep
@given(files, st.booleans())
@settings(max_examples=300, deadline=None)
def test_answers_about_one_file_never_contradict_each_other(
    scores: dict[str, float], follows: bool
) -> None:
    """Some life could have all of them; and none is less likely than what implies it."""
    own = OperatingPoints(**{**vars(POINTS), "follows": ("bounded",) if follows else ()})
    answers = answers_of(scores, dict.fromkeys(KEYS, own))
    for assignments in ASSIGNMENTS:
        decided = {
            key: answers[key][0] == "yes" for key in assignments if answers[key][0] != "unsure"
        }
        rows = [
            dict(zip(assignments, row, strict=True))
            for row in zip(*assignments.values(), strict=True)
        ]
        assert any(all(row[key] is yes for key, yes in decided.items()) for row in rows)
        likely = {key: answers[key][1] for key in assignments}
        for one in assignments:
            for other in assignments:
                pairs = {(row[one], row[other]) for row in rows}
                if (True, False) not in pairs:
                    assert likely[one] <= likely[other]
                if (True, True) not in pairs:
                    assert likely[one] + likely[other] <= 1 + 1e-9


@given(files)
@settings(max_examples=100, deadline=None)
def test_consistency_only_retracts_answers_unless_implications_are_allowed(
    scores: dict[str, float],
) -> None:
    answers = answers_of(scores, dict.fromkeys(KEYS, POINTS))
    for key, score in scores.items():
        alone = "yes" if score >= 0.9 else "no" if score < 0.1 else "unsure"
        assert answers[key][0] in (alone, "unsure")


def test_implied_answers_are_added_at_the_points_that_allow_them() -> None:
    scores = {"size=zero": 0.95, "0<size<1M": 0.2, "size>1M": 0.2, "HotName": 0.6}
    allowed = OperatingPoints(**{**vars(POINTS), "follows": ("bounded",)})
    points = dict.fromkeys(scores, allowed) | {"size>1M": POINTS}
    answers = answers_of(scores, points)
    assert answers["size=zero"] == ("yes", 0.996)
    assert answers["0<size<1M"] == ("no", 0.004)
    assert answers["size>1M"] == ("unsure", 0.004)
    assert answers["HotName"] == ("yes", 0.996)


def test_the_point_selects_the_threshold_of_a_yes() -> None:
    scores, points = {"lock": np.array([0.05, 0.3, 0.6, 0.95])}, {"lock": POINTS}
    for point, words in {
        "bounded": ["no", "unsure", "unsure", "yes"],
        "accurate": ["no", "unsure", "yes", "yes"],
    }.items():
        answers = answer(scores, points, ASSIGNMENTS, point)["lock"]  # type: ignore[arg-type]
        assert [answers.word(row) for row in range(4)] == words


def test_an_abstaining_predicate_is_never_a_yes_and_may_be_a_no() -> None:
    scores = {"lock": np.array([0.05, 0.95])}
    answers = answer(scores, {"lock": POINTS}, ASSIGNMENTS, "bounded", abstaining=["lock"])["lock"]
    assert [answers.word(row) for row in range(2)] == ["no", "unsure"]


def test_a_model_that_was_not_calibrated_says_yes_and_never_no() -> None:
    answers = answer({"lock": np.array([0.1, 0.6])}, {"lock": OperatingPoints(0.5)}, [], "accurate")
    assert [answers["lock"].word(row) for row in range(2)] == ["unsure", "yes"]
    assert answers["lock"].probabilities.to_pylist() == [None, None]


def test_scores_of_one_level_are_all_as_likely() -> None:
    points = OperatingPoints(0.5, levels=Levels((), (0.7,)))
    answers = answer({"common": np.array([0.4, 0.6])}, {"common": points}, [], "accurate")["common"]
    assert [answers.word(row) for row in range(2)] == ["unsure", "yes"]
    assert answers.probabilities.to_pylist() == [0.7, 0.7]


def test_a_no_of_every_score_is_one() -> None:
    points = OperatingPoints(0.5, None, no=np.nextafter(1.0, 2.0), levels=Levels((), (0.001,)))
    answers = answer({"rare": np.array([0.0, 1.0])}, {"rare": points}, [], "bounded")["rare"]
    assert [answers.word(row) for row in range(2)] == ["no", "no"]


def test_columns_that_do_not_fit_are_refused() -> None:
    certainty = Certainty(describe({"lock": POINTS}, [], "bounded"))
    for columns in ([], [pa.array([0.5])], [pa.array([0], pa.uint8())] * 2):
        with pytest.raises(ValueError, match="a column of levels per predicate"):
            certainty.answer(columns)
    with pytest.raises(ValueError, match="missing field"):
        Certainty("{}")


def test_a_yes_is_likelier_than_not_and_a_no_less_likely() -> None:
    """Where few files have such a score, a bound on all would allow either."""
    levels = Levels((0.1, 0.5, 0.9), (0.004, 0.6, 0.3, 0.7))
    points = OperatingPoints(accurate=0.5, bounded=0.5, no=0.5, levels=levels)
    scores = np.array([0.05, 0.3, 0.6, 0.95])
    answers = answer({"rare": scores}, {"rare": points}, [], "bounded")["rare"]
    assert [answers.word(row) for row in range(4)] == ["no", "unsure", "unsure", "yes"]


def truth_table(
    assignments: dict[str, list[bool]], answers: dict[str, Any]
) -> list[dict[str, bool]]:
    """Return the assignments that have all answers about one file."""
    rows = [
        dict(zip(assignments, row, strict=True)) for row in zip(*assignments.values(), strict=True)
    ]
    decided = {key: answers[key][0] == "yes" for key in assignments if answers[key][0] != "unsure"}
    return [row for row in rows if all(row[key] is yes for key, yes in decided.items())]


@given(files, st.sets(st.sampled_from(KEYS)))
@settings(max_examples=60, deadline=None)
def test_implied_answers_are_added(scores: dict[str, float], never: set[str]) -> None:
    """An abstaining predicate alone is not a yes, whatever implies it."""
    own = OperatingPoints(**{**vars(POINTS), "follows": ("bounded",)})
    columns = {key: np.array([score]) for key, score in scores.items()}
    found = answer(columns, dict.fromkeys(KEYS, own), ASSIGNMENTS, "bounded", never)
    answers = {key: (each.word(0), each.probability(0)) for key, each in found.items()}
    for assignments in ASSIGNMENTS:
        rows = truth_table(assignments, answers)
        assert rows
        for key in assignments:
            agreed = {row[key] for row in rows}
            if answers[key][0] == "unsure":
                assert agreed == {True, False} or (agreed == {True} and key in never)
            assert answers[key][0] != "yes" or (key not in never and answers[key][1] >= 0.5)


def test_two_answers_can_imply_a_third() -> None:
    """What is not empty, and at most 16 kB, is both."""
    own = OperatingPoints(**{**vars(POINTS), "follows": ("bounded",)})
    scores = {"size=zero": 0.05, "0<size<=16k": 0.6, "size>16k": 0.05}
    answers = answers_of(scores, dict.fromkeys(scores, own))
    assert {key: word for key, (word, _) in answers.items()} == {
        "size=zero": "no",
        "0<size<=16k": "yes",
        "size>16k": "no",
    }
