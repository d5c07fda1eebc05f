from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from features import History
from predictor import FILE_PREDICATES
from training.compare import decide, split_time
from training.config import Training
from training.train import Lives, fit

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
    champion, manifest = fit(lives(b"data"), SMALL, EMPTY)
    tuesday = lives(b"zero", b"data", b"zero", b"zero", day=1)
    decision, test = decide(champion, manifest, tuesday, SMALL, EMPTY)
    assert decision.publish
    assert (decision.champion, decision.candidate) == (0, 100)
    assert test is not None
    figures = test.assessment.evaluation
    assert figures["n"].to_pylist() == [20] * len(figures)


def test_the_published_model_is_told_of_what_was_seen_just_before_the_test(
    lives: Callable[..., Lives],
) -> None:
    champion, manifest = fit(lives(b"data"), SMALL, EMPTY)
    tuesday = lives(b"zero", b"data", b"zero", b"zero", day=1)
    split = split_time(tuesday, datetime.fromisoformat(manifest["trained_on"]["until"]))
    expected = History()
    for seen in (lives(b"data"), tuesday.born(before=split)):
        expected.follow(seen.files)
    decide(champion, manifest, tuesday, SMALL, EMPTY)
    newest = tuesday.born(since=split).files
    assert champion.creates("file", newest)["history"].equals(expected.follow(newest))


def test_a_model_that_is_worse_by_more_than_the_margin_is_kept_aside(
    lives: Callable[..., Lives],
) -> None:
    """The candidate sees no .zero before the newest quarter; the champion saw them on Monday."""
    champion, manifest = fit(lives(b"zero", b"data"), SMALL, EMPTY)
    tuesday = lives(b"data", b"data", b"data", b"zero", day=1)
    decision, _ = decide(champion, manifest, tuesday, SMALL, EMPTY)
    assert not decision.publish
    assert decision.reason == "worse by more than 0: correct 0.00%, the published model 100.00%"
    generous, _ = decide(champion, manifest, tuesday, Training(margin=100), EMPTY)
    assert generous.publish


def test_an_equal_model_replaces_its_predecessor(lives: Callable[..., Lives]) -> None:
    champion, manifest = fit(lives(b"zero", b"data"), SMALL, EMPTY)
    tuesday = lives(b"zero", b"data", b"zero", b"data", day=1)
    decision, _ = decide(champion, manifest, tuesday, SMALL, EMPTY)
    assert decision.publish
    assert decision.champion == decision.candidate == 100


def test_models_are_compared_on_the_newest_quarter(lives: Callable[..., Lives]) -> None:
    split = split_time(lives(b"a", b"b", b"c", b"d", day=1), MONDAY)
    assert split == MONDAY + timedelta(days=1, seconds=300)


def test_no_model_is_tested_on_what_the_published_one_was_trained_on(
    lives: Callable[..., Lives],
) -> None:
    week = lives(b"a", b"b", b"c", b"d", day=1)
    champion_until = MONDAY + timedelta(days=1, seconds=310)
    assert split_time(week, champion_until) == champion_until + timedelta(seconds=1)


def test_where_nothing_is_newer_than_the_published_models_lessons_the_quarter_serves(
    lives: Callable[..., Lives],
) -> None:
    split = split_time(lives(b"a", b"b", b"c", b"d", day=1), MONDAY + timedelta(days=9))
    assert split == MONDAY + timedelta(days=1, seconds=300)


def test_without_a_known_answer_in_common_the_new_model_is_published(
    lives: Callable[..., Lives],
) -> None:
    champion, manifest = fit(lives(b"data"), SMALL, EMPTY)
    other = [FILE_PREDICATES["lock"]]
    decision, _ = decide(champion, manifest, lives(b"a", b"b", day=1), SMALL, other)
    assert decision.publish
    assert decision.champion is None
    assert "no predicate" in decision.reason
