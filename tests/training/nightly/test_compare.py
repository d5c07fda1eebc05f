from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from birthmark.features import History
from birthmark.predictor import FILE_PREDICATES
from birthmark.predictor.models.kinds import BEST
from birthmark.training.config import Training
from birthmark.training.learn.train import Lives, train
from birthmark.training.nightly.candidate import train_candidate
from birthmark.training.nightly.compare import decide
from birthmark.training.nightly.compare import test_first as first_test
from birthmark.training.nightly.newest_day import newest
from birthmark.training.registry.stored import Stored

Make = Callable[..., Any]
MONDAY = datetime(2001, 10, 22, tzinfo=UTC)
SMALL = Training(trees=4, rounds=2)
EMPTY = [FILE_PREDICATES["size=zero"]]


@pytest.fixture
def lives(life: Make, files_of: Make, names_of: Make) -> Callable[..., Lives]:
    def make(*suffixes: bytes, day: int = 0) -> Lives:
        """Return a day of 20 files for each suffix, in that order; those in .zero are empty."""
        rows = [
            life(
                b"%d.%b" % (number, suffix),
                100.0 * place + number,
                1,
                day=MONDAY + timedelta(days=day),
                max_size=0 if suffix == b"zero" else 10,
            )
            for place, suffix in enumerate(suffixes)
            for number in range(20)
        ]
        return Lives((f"day{day}",), files_of(*rows), names_of(*rows))

    return make


def test_a_model_that_knows_what_is_new_replaces_one_that_does_not(
    lives: Callable[..., Lives],
) -> None:
    champion, manifest = train(lives(b"data"), SMALL, EMPTY)
    tuesday = lives(b"zero", b"data", b"zero", b"zero", day=1)
    decision, test = decide(champion, manifest, tuesday, SMALL, EMPTY, "rules")
    assert decision.publish
    assert (decision.champion, decision.candidate) == (0, 100)
    assert test is not None
    figures = test.assessment.evaluation
    assert figures["n"].to_pylist() == [20] * len(figures)


def test_the_published_models_history_extends_to_the_test(
    lives: Callable[..., Lives],
) -> None:
    champion, manifest = train(lives(b"data"), SMALL, EMPTY)
    tuesday = lives(b"zero", b"data", b"zero", b"zero", day=1)
    period = newest(tuesday, "UTC", datetime.fromisoformat(manifest["trained_on"]["until"]))
    assert period is not None
    split = period.since
    expected = History()
    for seen in (lives(b"data"), tuesday.born(before=split)):
        expected.follow(seen.files)
    decide(champion, manifest, tuesday, SMALL, EMPTY, "rules")
    asked = tuesday.born(since=split).files
    report = expected.follow(asked, champion.parameters["behind"])
    assert champion.creates("file", asked)["history"].equals(report)


def test_a_model_worse_by_more_than_the_margin_is_set_aside(
    lives: Callable[..., Lives],
) -> None:
    """The candidate sees no .zero before the newest quarter; the champion saw them on Monday."""
    champion, manifest = train(lives(b"zero", b"data"), SMALL, EMPTY)
    tuesday = lives(b"data", b"data", b"data", b"zero", day=1)
    decision, _ = decide(champion, manifest, tuesday, SMALL, EMPTY, "rules")
    assert not decision.publish
    assert decision.reason == "worse by more than 0: correct 0.00%, the published model 100.00%"
    generous, _ = decide(champion, manifest, tuesday, Training(margin=100), EMPTY, "rules")
    assert generous.publish


@pytest.fixture
def by_owner(life: Make, files_of: Make, names_of: Make) -> Callable[[int], Lives]:
    def make(day: int) -> Lives:
        """Return a day of files that are empty if they are user 2's, whatever they are called."""
        rows = [
            life(
                b"file",
                9.0 * number,
                1,
                day=MONDAY + timedelta(days=day),
                uid=1 + number % 2,
                max_size=10 * (1 - number % 2),
            )
            for number in range(200)
        ]
        return Lives((f"day{day}",), files_of(*rows), names_of())

    return make


def test_the_comparison_is_of_the_kind_to_be_served(
    by_owner: Callable[[int], Lives],
) -> None:
    settings = SMALL.model_copy(update={"point": "accurate"})
    monday, _ = train_candidate(None, by_owner(0), settings, EMPTY)
    champion = Stored("monday", monday.manifest, monday.model)
    candidate, decision = train_candidate(champion, by_owner(1), settings, EMPTY)
    assert candidate.manifest["serve"] == candidate.card["serve"] == "best"
    assert (decision.champion, decision.candidate) == (100, 100)
    arguments = monday.model, monday.manifest, by_owner(2), settings, EMPTY
    assert decide(*arguments, "rules")[0].champion == 50
    assert decide(*arguments, "able")[0].champion == 100


def test_a_champion_without_the_kind_of_its_successor_is_asked_by_its_own(
    by_owner: Callable[[int], Lives],
) -> None:
    settings = SMALL.model_copy(update={"point": "accurate", "serve": "name"})
    champion, manifest = train(by_owner(0), settings, EMPTY)
    assert champion.kinds == ("name",)
    best = settings.model_copy(update={"serve": BEST})
    decision, _ = decide(champion, manifest, by_owner(1), best, EMPTY, BEST)
    assert (decision.champion, decision.candidate) == (50, 100)


def test_an_equal_model_replaces_its_predecessor(lives: Callable[..., Lives]) -> None:
    champion, manifest = train(lives(b"zero", b"data"), SMALL, EMPTY)
    tuesday = lives(b"zero", b"data", b"zero", b"data", day=1)
    decision, _ = decide(champion, manifest, tuesday, SMALL, EMPTY, "rules")
    assert decision.publish
    assert decision.champion == decision.candidate == 100


@pytest.fixture
def two_days(life: Make, files_of: Make, names_of: Make) -> Callable[..., Lives]:
    def make(monday: bytes, tuesday: bytes, morning: bytes) -> Lives:
        """Return Monday, Tuesday and two hours of Wednesday, a file a quarter of an hour."""
        rows = [
            life(
                b"%d.%b" % (number, suffix),
                900.0 * number,
                1,
                day=MONDAY + timedelta(days=day),
                max_size=0 if suffix == b"zero" else 10,
            )
            for day, (suffix, each) in enumerate([(monday, 96), (tuesday, 96), (morning, 8)])
            for number in range(each)
        ]
        return Lives(("days",), files_of(*rows), names_of(*rows))

    return make


def test_models_are_compared_on_the_newest_complete_day_and_not_on_the_one_that_goes_on(
    lives: Callable[..., Lives], two_days: Callable[..., Lives]
) -> None:
    """The champion is right on Tuesday alone; on Wednesday morning the candidate would win."""
    champion, manifest = train(lives(b"zero", b"data", day=-7), SMALL, EMPTY)
    decision, test = decide(
        champion, manifest, two_days(b"data", b"zero", b"data"), SMALL, EMPTY, "rules"
    )
    assert not decision.publish
    assert decision.day == "2001-10-23"
    assert decision.reason.endswith("the published model 100.00%, on 2001-10-23")
    assert test is not None
    assert test.files == 96


def test_a_published_model_that_learned_from_a_wrong_clock_is_compared_all_the_same(
    lives: Callable[..., Lives], two_days: Callable[..., Lives]
) -> None:
    """It says that it has learned until a time that is still to come."""
    champion, manifest = train(lives(b"data", b"zero", day=-7), SMALL, EMPTY)
    manifest["trained_on"]["until"] = "2094-01-01T00:00:00+00:00"
    days = two_days(b"zero", b"zero", b"data")
    decision, test = decide(champion, manifest, days, SMALL, EMPTY, "rules")
    assert decision.publish
    assert decision.day == "2001-10-23"
    assert test is not None
    assert test.files == 96


def test_where_the_newest_complete_day_taught_the_published_model_none_is_published(
    two_days: Callable[..., Lives],
) -> None:
    all_days = two_days(b"data", b"zero", b"data")
    champion, manifest = train(all_days, SMALL, EMPTY)
    decision, test = decide(champion, manifest, all_days, SMALL, EMPTY, "rules")
    assert not decision.publish
    assert "has learned from the newest complete day" in decision.reason
    assert test is None


def test_a_first_model_is_tested_on_the_newest_complete_day(
    two_days: Callable[..., Lives],
) -> None:
    test = first_test(two_days(b"zero", b"zero", b"zero"), SMALL, EMPTY, {})
    assert test is not None
    assert (test.period.day, test.files) == ("2001-10-23", 96)
    assert test.champion is None
    rows = test.assessment.evaluation.to_pylist()
    assert {row["correct"] for row in rows if row["point"] == "accurate"} == {100.0}


def test_without_a_known_answer_in_common_the_new_model_is_published(
    lives: Callable[..., Lives],
) -> None:
    champion, manifest = train(lives(b"data"), SMALL, EMPTY)
    other = [FILE_PREDICATES["lock"]]
    decision, _ = decide(champion, manifest, lives(b"a", b"b", day=1), SMALL, other, "rules")
    assert decision.publish
    assert decision.champion is None
    assert "no predicate" in decision.reason
