"""Tests also training/registry/stored.py."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from birthmark.predictor import FILE_PREDICATES
from birthmark.training.config import Training
from birthmark.training.learn.train import Lives
from birthmark.training.nightly.candidate import Candidate, train_alone, train_candidate
from birthmark.training.nightly.card import html_of
from birthmark.training.registry.stored import Stored

Days = list[tuple[pa.Table, pa.Table]]
Card = dict[str, Any]
SETTINGS = Training(trees=4, rounds=2)
ASKED = [FILE_PREDICATES[key] for key in ("lock", "size=zero", "lifespan<=1", "lifespan>5")]


def stored(candidate: Candidate) -> Stored:
    return Stored("20011023T020000Z-abcdef", candidate.manifest, candidate.model)


def card_in(candidate: Candidate, directory: Path) -> Card:
    candidate.write_parts(directory)
    card: Card = json.loads((directory / "card.json").read_bytes())
    return card


@pytest.fixture(scope="module")
def monday(days: Days) -> Candidate:
    return train_candidate(None, Lives(("monday",), *days[0]), SETTINGS, ASKED)[0]


@pytest.fixture(scope="module")
def tuesday(monday: Candidate, days: Days) -> Candidate:
    return train_candidate(stored(monday), Lives(("tuesday",), *days[1]), SETTINGS, ASKED)[0]


def test_a_card_says_what_was_learned_from(monday: Candidate, tmp_path: Path) -> None:
    trained = card_in(monday, tmp_path)["trained_on"]
    assert trained["datasets"] == ["monday"]
    assert trained["servers"] == ["home"]
    assert trained["since"] == "2001-10-22T00:00:00+00:00"
    assert (trained["files"], trained["names"]) == (60, 60)
    assert trained["loss"] == {"files": 0, "names": 0, "left_out": False}


def test_a_card_says_what_is_promised_of_each_predicate(monday: Candidate, tmp_path: Path) -> None:
    bound = card_in(monday, tmp_path)["bound"]
    assert (bound["bound"], bound["confidence"]) == (1.0, 95.0)
    assert list(bound["predicates"]) == [predicate.key for predicate in ASKED]
    for key, own in bound["predicates"].items():
        points = monday.model.models["rules"].point(key)
        assert own["abstains"] == (points.bounded is None)
        assert own["threshold"] == points.bounded


def test_a_card_says_whom_the_model_fails(monday: Candidate, tmp_path: Path) -> None:
    test = card_in(monday, tmp_path)["test"]
    assert (test["day"], test["files"]) == (None, 15)
    (lock,) = (
        row for row in test["figures"] if (row["predicate"], row["point"]) == ("lock", "accurate")
    )
    assert (lock["n"], lock["correct"]) == (15, 100)
    assert {row["model"] for row in test["figures"]} == {"best"}
    (user,) = test["failures"]["user"]
    assert (user["group"], user["n"]) == ("1", 15)
    assert set(test["failures"]) == {"user", "client", "depth"}


def test_a_card_says_what_is_known_of_each_bound(
    monday: Candidate, days: Days, tmp_path: Path
) -> None:
    assert card_in(monday, tmp_path)["test"]["bounds"] == "there is no bound"  # it abstains
    (other := tmp_path / "daring").mkdir()
    daring = Training(trees=4, rounds=2, bound=0.4)
    test = card_in(train_alone(None, Lives(("monday",), *days[0]), daring, ASKED), other)["test"]
    standings = {row["predicate"]: row["standing"] for row in test["figures"] if row["standing"]}
    assert set(standings.values()) == {"not enough seen"}  # of 15 files
    html = (other / "card.html").read_text()
    assert f"Standing of the bounds: {test['bounds']}." in html
    assert html.count('<span class="standing not-enough-seen">') == len(standings) > 0


def test_a_card_says_what_is_different_from_the_version_before(
    tuesday: Candidate, tmp_path: Path
) -> None:
    drift = card_in(tuesday, tmp_path)["drift"]
    assert drift["against"] == "20011023T020000Z-abcdef"
    occurs = {row["predicate"]: row for row in drift["occurs"]}
    assert occurs["lock"]["now"] == occurs["lock"]["before"] == pytest.approx(100 / 3)
    tested = {row["predicate"]: row for row in drift["tested"]}
    assert tested["lock"]["correct"] == {"now": 100, "before": 100}
    rules = drift["rules"]
    assert rules["kept"] + rules["new"] > 0
    assert len(rules["most_of_new"]) <= rules["new"]


def test_the_first_card_has_nothing_to_compare_with(monday: Candidate, tmp_path: Path) -> None:
    assert card_in(monday, tmp_path)["drift"] is None
    assert "Nothing to compare with" in (tmp_path / "card.html").read_text()


def test_one_who_was_not_tested_has_a_card_that_says_so(days: Days, tmp_path: Path) -> None:
    lives = Lives(("monday",), *days[0])
    untested = train_alone(None, lives, SETTINGS, ASKED, test=False)
    assert card_in(untested, tmp_path)["test"] is None
    assert "Not tested in training" in (tmp_path / "card.html").read_text()


def test_the_card_for_people_is_one_page_that_says_the_same(
    tuesday: Candidate, tmp_path: Path
) -> None:
    card_in(tuesday, tmp_path)
    html = (tmp_path / "card.html").read_text()
    for heading in ("Error bounds", "Accuracy", "Accuracy by group", "Drift"):
        assert f"<h2>{heading}</h2>" in html
    assert "20011023T020000Z-abcdef" in html
    assert "tuesday" in html
    assert not re.search(r"<(script|link|img)|https?://|url\(", html)


def test_the_same_training_makes_the_same_parts(
    monday: Candidate, tuesday: Candidate, days: Days, tmp_path: Path
) -> None:
    again, _ = train_candidate(stored(monday), Lives(("tuesday",), *days[1]), SETTINGS, ASKED)
    contents = []
    for name, candidate in (("one", tuesday), ("two", again)):
        (tmp_path / name).mkdir()
        candidate.write_parts(tmp_path / name)
        stored_files = (p for p in (tmp_path / name).rglob("*") if p.is_file())
        contents.append({p.relative_to(tmp_path / name): p.read_bytes() for p in stored_files})
    assert contents[0] == contents[1]


def test_a_name_in_a_dataset_is_no_markup(days: Days, tmp_path: Path) -> None:
    lives = Lives(("<b>monday",), *days[0])
    card_in(train_alone(None, lives, SETTINGS, ASKED, test=False), tmp_path)
    assert "<b>monday" not in (tmp_path / "card.html").read_text()


@pytest.mark.parametrize("kind", ["name", "rules", "forest"])
def test_a_model_of_one_kind_has_a_card_and_is_compared(
    days: Days, tmp_path: Path, kind: str
) -> None:
    settings = SETTINGS.model_copy(update={"serve": kind})
    first, _ = train_candidate(None, Lives(("monday",), *days[0]), settings, ASKED)
    second, decision = train_candidate(
        stored(first), Lives(("tuesday",), *days[1]), settings, ASKED
    )
    assert second.model.kinds == (kind,)
    assert (second.manifest["serve"], second.manifest["kinds"]) == (kind, {})
    assert {row["model"] for row in second.manifest["figures"]} == {kind}
    assert decision.champion is not None
    assert decision.candidate is not None
    card = card_in(second, tmp_path)
    assert {row["model"] for row in card["test"]["figures"]} == {kind}
    assert (card["drift"]["rules"] is None) == (kind != "rules")
    assert card["drift"]["tested"]
    assert "Of the rule lists" not in html_of(second.card) or kind == "rules"


def test_a_successor_of_other_kinds_is_compared_with_what_answered(
    monday: Candidate, days: Days
) -> None:
    settings = SETTINGS.model_copy(update={"serve": "forest"})
    only, _ = train_candidate(None, Lives(("monday",), *days[0]), settings, ASKED)
    _, decision = train_candidate(stored(only), Lives(("tuesday",), *days[1]), SETTINGS, ASKED)
    assert decision.champion is not None
    _, decision = train_candidate(stored(monday), Lives(("tuesday",), *days[1]), settings, ASKED)
    assert decision.champion is not None
