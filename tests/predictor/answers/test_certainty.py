from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from birthmark.predictor.answers.certainty import WORDS, described, plainly, say
from birthmark.predictor.answers.levels import Levels
from birthmark.predictor.answers.operating_points import OperatingPoints
from birthmark.predictor.predicates import BUILT_IN
from birthmark.predictor.predicates.worlds import worlds_of
from birthmark_native import Certainty

WORLDS = worlds_of(BUILT_IN)
KEYS = [key for worlds in WORLDS for key in worlds]
POINTS = OperatingPoints(
    accurate=0.5,
    bounded=0.9,
    no=0.1,
    levels=Levels((0.1, 0.3, 0.5, 0.7, 0.9), (0.004, 0.2, 0.4, 0.6, 0.8, 0.996)),
)


def said_of(scores: dict[str, float], points: dict[str, OperatingPoints]) -> dict[str, Any]:
    """Return by key the answer about one file, and how likely a yes is."""
    columns = {key: np.array([score]) for key, score in scores.items()}
    said = say(columns, points, WORLDS, "bounded")
    return {key: (each.word(0), each.probability(0)) for key, each in said.items()}


files = st.fixed_dictionaries({key: st.floats(0, 1) for key in KEYS})


@pytest.mark.deep
@given(files, st.booleans())
@settings(max_examples=300, deadline=None)
def test_answers_about_one_file_never_contradict_each_other(
    scores: dict[str, float], follows: bool
) -> None:
    """Some life could have all of them; and none is less likely than what implies it."""
    own = OperatingPoints(**{**vars(POINTS), "follows": ("bounded",) if follows else ()})
    said = said_of(scores, dict.fromkeys(KEYS, own))
    for worlds in WORLDS:
        told = {key: said[key][0] == "yes" for key in worlds if said[key][0] != "unsure"}
        rows = [dict(zip(worlds, row, strict=True)) for row in zip(*worlds.values(), strict=True)]
        assert any(all(row[key] is yes for key, yes in told.items()) for row in rows)
        likely = {key: said[key][1] for key in worlds}
        for one in worlds:
            for other in worlds:
                pairs = {(row[one], row[other]) for row in rows}
                if (True, False) not in pairs:
                    assert likely[one] <= likely[other]
                if (True, True) not in pairs:
                    assert likely[one] + likely[other] <= 1 + 1e-9


@given(files)
@settings(max_examples=100, deadline=None)
def test_making_them_consistent_only_takes_back_unless_it_may_say_what_follows(
    scores: dict[str, float],
) -> None:
    said = said_of(scores, dict.fromkeys(KEYS, POINTS))
    for key, score in scores.items():
        alone = "yes" if score >= 0.9 else "no" if score < 0.1 else "unsure"
        assert said[key][0] in (alone, "unsure")


def test_what_follows_is_said_at_the_points_that_allow_it() -> None:
    scores = {"size=zero": 0.95, "0<size<1M": 0.2, "size>1M": 0.2, "HotName": 0.6}
    allowed = OperatingPoints(**{**vars(POINTS), "follows": ("bounded",)})
    points = dict.fromkeys(scores, allowed) | {"size>1M": POINTS}
    said = said_of(scores, points)
    assert said["size=zero"] == ("yes", 0.996)
    assert said["0<size<1M"] == ("no", 0.004)
    assert said["size>1M"] == ("unsure", 0.004)
    assert said["HotName"] == ("yes", 0.996)


def test_the_point_says_what_is_a_yes() -> None:
    scores, points = {"lock": np.array([0.05, 0.3, 0.6, 0.95])}, {"lock": POINTS}
    for point, words in {
        "bounded": ["no", "unsure", "unsure", "yes"],
        "accurate": ["no", "unsure", "yes", "yes"],
    }.items():
        said = say(scores, points, WORLDS, point)["lock"]  # type: ignore[arg-type]
        assert [said.word(row) for row in range(4)] == words


def test_who_abstains_is_never_a_yes_and_may_be_a_no() -> None:
    scores = {"lock": np.array([0.05, 0.95])}
    said = say(scores, {"lock": POINTS}, WORLDS, "bounded", abstaining=["lock"])["lock"]
    assert [said.word(row) for row in range(2)] == ["no", "unsure"]


def test_a_model_that_was_not_calibrated_says_yes_and_never_no() -> None:
    said = say({"lock": np.array([0.1, 0.6])}, {"lock": OperatingPoints(0.5)}, [], "accurate")
    assert [said["lock"].word(row) for row in range(2)] == ["unsure", "yes"]
    assert said["lock"].probabilities.to_pylist() == [None, None]


def test_a_no_of_every_score_is_one() -> None:
    points = OperatingPoints(0.5, None, no=np.nextafter(1.0, 2.0), levels=Levels((), (0.001,)))
    said = say({"rare": np.array([0.0, 1.0])}, {"rare": points}, [], "bounded")["rare"]
    assert [said.word(row) for row in range(2)] == ["no", "no"]


def test_columns_that_do_not_fit_are_refused() -> None:
    certainty = Certainty(described({"lock": POINTS}, [], "bounded"))
    for columns in ([], [pa.array([0.5])], [pa.array([0], pa.uint8())] * 2):
        with pytest.raises(ValueError, match="a column of levels per predicate"):
            certainty.say(columns)
    with pytest.raises(ValueError, match="missing field"):
        Certainty("{}")


def test_of_answers_alone_a_yes_is_known_and_all_else_is_unsure() -> None:
    words, likely = Certainty(plainly(["lock"])).say([pa.array([0, 1], pa.uint8())])
    assert [WORDS[number] for number in words[0].to_pylist()] == ["unsure", "yes"]
    assert likely[0].to_pylist() == [None, None]


def test_a_yes_is_likelier_than_not_and_a_no_less_likely() -> None:
    """Where few files have such a score, a bound on all would allow either."""
    levels = Levels((0.1, 0.5, 0.9), (0.004, 0.6, 0.3, 0.7))
    points = OperatingPoints(accurate=0.5, bounded=0.5, no=0.5, levels=levels)
    scores = np.array([0.05, 0.3, 0.6, 0.95])
    said = say({"rare": scores}, {"rare": points}, [], "bounded")["rare"]
    assert [said.word(row) for row in range(4)] == ["no", "unsure", "unsure", "yes"]
