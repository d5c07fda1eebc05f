from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.control import ControlSettings
from birthmark.predictor.control.controller import outcomes_to_lower
from birthmark.predictor.image.forest import NEVER
from birthmark.training.registry import thresholds
from birthmark.training.registry.thresholds import (
    InvalidThresholdsError,
    MovedThreshold,
    MovedThresholds,
)

ROW_NUMBERS = ("calibrated", "score", "sum", "outcomes", "false_positives")

ROW = MovedThreshold(
    predicate="lock",
    told="caller",
    calibrated=0.5,
    score=None,
    sum=2**32 - 1,
    outcomes=70,
    false_positives=7,
)
MOVED = MovedThresholds(version="1", kind="forest", bound=0.01, clock=5, thresholds=[ROW])


def test_thresholds_survive_a_round_trip(tmp_path: Path) -> None:
    path = thresholds.beside(tmp_path / "history")
    assert path == tmp_path / "history.thresholds"
    assert thresholds.read(path) is None
    thresholds.write(path, MOVED)
    assert thresholds.read(path) == MOVED


BOUND, OWN = 0.01, 100
LEAST = outcomes_to_lower(ControlSettings(bound=BOUND))


def moved(**row: Any) -> MovedThresholds:
    """Return one threshold, as calibrated but for what is given."""
    usual = {"calibrated": 0.5, "score": 0.5, "sum": OWN, "outcomes": 0, "false_positives": 0}
    own = MovedThreshold.model_validate({"predicate": "lock", "told": "caller", **usual, **row})
    return MOVED.model_copy(update={"bound": BOUND, "thresholds": [own]})


def checked(found: MovedThresholds) -> None:
    thresholds.check(found, {"lock": [OWN] * len(HISTORY_SCOPES)}, BOUND)


@pytest.mark.parametrize(
    "row",
    [
        {},
        {"sum": 0, "score": 0.0, "outcomes": LEAST},
        {"sum": OWN + 1, "score": 0.6, "outcomes": 1, "false_positives": 1},
        {"sum": NEVER, "score": None, "outcomes": 1000, "false_positives": 500},
        {"sum": 7, "score": 0.1, "outcomes": 100_000, "false_positives": 1050},
    ],
)
def test_thresholds_consistent_with_counts_are_accepted(row: dict[str, Any]) -> None:
    checked(moved(**row))


@pytest.mark.parametrize(
    ("row", "place"),
    [
        ({"predicate": "unknown"}, "thresholds.0.predicate"),
        ({"sum": 0, "score": 0.0}, "thresholds.0.outcomes"),
        ({"sum": OWN - 1, "outcomes": LEAST - 1}, "thresholds.0.outcomes"),
        ({"score": None}, "thresholds.0.sum"),
        ({"outcomes": 7, "false_positives": 8}, "thresholds.0.false_positives"),
        ({"outcomes": 1000, "false_positives": 19}, "thresholds.0.false_positives"),
        ({"sum": None, "score": None}, "thresholds.0.sum"),
    ],
)
def test_thresholds_that_contradict_counts_are_refused_with_the_place(
    row: dict[str, Any], place: str
) -> None:
    with pytest.raises(InvalidThresholdsError) as refused:
        checked(moved(**row))
    assert refused.value.field == place


def test_the_bound_is_that_of_the_version() -> None:
    with pytest.raises(InvalidThresholdsError, match=r"bound: expected 0.01, the version's own"):
        checked(moved().model_copy(update={"bound": 0.99}))


NUMBERS = ["NaN", "Infinity", "-1", "true", '"7"', "1e400", "1" + "0" * 400, "[]"]


@pytest.mark.parametrize("value", NUMBERS)
@pytest.mark.parametrize(
    "member", ["bound", "clock", *(f"thresholds.0.{each}" for each in ROW_NUMBERS)]
)
def test_every_number_is_finite_and_within_its_bounds(member: str, value: str) -> None:
    if (member, value) == ("clock", "-1"):
        return  # a time before 1970
    written = json.loads(MOVED.model_dump_json())
    *way, last = member.split(".")
    within = written["thresholds"][0] if way else written
    within[last] = "HERE"
    content = json.dumps(written).replace('"HERE"', value)
    with pytest.raises(InvalidThresholdsError) as refused:
        thresholds.parse(content)
    assert refused.value.field.startswith(member)


def test_each_predicate_stands_once_and_no_more_than_an_image_can_have() -> None:
    twice = MOVED.model_dump()
    twice["thresholds"] *= 2
    with pytest.raises(InvalidThresholdsError, match=r"expected each predicate .* once"):
        thresholds.parse(json.dumps(twice))
    many = MOVED.model_dump()
    many["thresholds"] = [{**ROW.model_dump(), "predicate": f"p{n}"} for n in range(1025)]
    with pytest.raises(InvalidThresholdsError, match=r"thresholds: .* at most 1024 items"):
        thresholds.parse(json.dumps(many))


@pytest.mark.parametrize("content", ["", "{}", '{"version": 1}', "[]"])
def test_an_invalid_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "history.thresholds"
    path.write_text(content)
    with pytest.raises(ValueError, match=f"{path}: expected thresholds"):
        thresholds.read(path)
