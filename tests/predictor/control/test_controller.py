from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.predictor.answers.operating_points import ALWAYS, EVEN, NEVER
from birthmark.predictor.control import Controller, ControlSettings
from birthmark.predictor.control.controller import most_false_positives, outcomes_to_lower

TIGHT = ControlSettings(bound=0.1, memory=20, patience=50)
"""Few outcomes decide: a credit of five false positives."""

SETTINGS = ControlSettings()


def number(threshold: float | None) -> float:
    return NEVER if threshold is None else threshold


def observe(controller: Controller, scores: np.ndarray, truths: np.ndarray) -> None:
    """Let outcomes be known at once, all answered at the threshold now in force."""
    in_force = np.full(len(scores), number(controller.threshold))
    controller.observe(scores, in_force, truths)


def play(
    controller: Controller, scores: np.ndarray, truths: np.ndarray, batch: int = 50
) -> np.ndarray:
    """Return the answers to files whose outcomes are known a batch later."""
    yes = np.zeros(len(scores), bool)
    for start in range(0, len(scores), batch):
        own = slice(start, start + batch)
        yes[own] = scores[own] >= number(controller.threshold)
        observe(controller, scores[own], truths[own])
    return yes


def assignment(seed: int, n: int, likely: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and truths: the higher the score, the likelier, but no more than `likely`."""
    random = np.random.default_rng(seed)
    scores = random.random(n)
    return scores, random.random(n) < likely * scores**3


class Adversary:
    """Asks and tells as it likes, and keeps the count that the guarantee is about."""

    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.open: list[tuple[float, float, bool]] = []
        self.counted = self.wrong = self.late = 0

    def ask(self, score: float | None, truth: bool) -> None:
        """Ask of a file; without a score, of one that just reaches the threshold, or never does."""
        in_force = number(self.controller.threshold)
        if score is None:
            score = self.controller.threshold or 0.0
        self.open.append((score, in_force, truth))

    def tell(self, places: list[int]) -> None:
        """Tell some outcomes, in any order."""
        chosen = [self.open[place % len(self.open)] for place in places] if self.open else []
        chosen = list(dict.fromkeys(map(id, chosen)))
        own = [each for each in self.open if id(each) in chosen]
        yes = sum(score >= in_force for score, in_force, _ in self.open)
        before = self.controller.credit
        self.open = [each for each in self.open if id(each) not in chosen]
        if own:
            self.controller.observe(*(np.array(column) for column in zip(*own, strict=True)))
        self.counted += len(own)
        self.wrong += sum(score >= in_force and not truth for score, in_force, truth in own)
        if before > 0 >= self.controller.credit:
            self.late = yes


ASK = st.tuples(st.none() | st.floats(0, 1), st.booleans() | st.just(False))
TELL = st.lists(st.integers(0, 50), min_size=1, max_size=30)


@given(st.none() | st.floats(0, 1), st.lists(st.lists(ASK, max_size=30) | TELL, max_size=40))
def test_the_guarantee_holds_for_any_sequence_in_any_order(
    static: float | None, moves: list[list[tuple[float | None, bool]] | list[int]]
) -> None:
    adversary = Adversary(Controller(static, TIGHT))
    for move in moves:
        for each in move:
            if isinstance(each, tuple):
                adversary.ask(*each)
        if move and isinstance(move[0], int):
            adversary.tell([place for place in move if isinstance(place, int)])
        allowed = TIGHT.bound * adversary.counted + TIGHT.credit + adversary.late
        assert adversary.wrong <= allowed + 1e-9
    assert adversary.wrong == adversary.controller.false_positives
    assert adversary.counted == adversary.controller.outcomes


@pytest.mark.parametrize("delay", [1, 10, 100])
def test_an_adversary_with_every_threshold_cannot_break_the_guarantee(delay: int) -> None:
    adversary = Adversary(Controller(EVEN, TIGHT))
    for turn in range(2000):
        adversary.ask(*((1.0, True) if turn % 2 else (None, False)))
        if turn >= delay:
            adversary.tell([0])
    assert adversary.wrong <= TIGHT.bound * adversary.counted + TIGHT.credit + adversary.late
    assert adversary.late <= delay + 1
    assert adversary.wrong > 4 * TIGHT.credit  # it goes on saying yes


def test_calibrated_thresholds_alone_would_not_keep_it() -> None:
    adversary = Adversary(Controller(EVEN, replace(TIGHT, on=False)))
    for _ in range(100):
        adversary.ask(1.0, False)
        adversary.tell([0])
    assert adversary.wrong == 100


@given(st.none() | st.floats(ALWAYS, NEVER))
def test_it_starts_from_the_calibrated_threshold(static: float | None) -> None:
    controller = Controller(static, SETTINGS)
    assert controller.threshold == static
    observe(controller, np.array([0.3]), np.array([False]))
    if static is None or static > 0.3:
        assert controller.threshold == static


@given(st.none() | st.floats(ALWAYS, NEVER), st.integers(0, 5))
def test_switched_off_it_stays_there(static: float | None, seed: int) -> None:
    controller = Controller(static, replace(SETTINGS, on=False))
    play(controller, *assignment(seed, 500))
    assert controller.threshold == static


def test_without_credit_the_answer_is_never_yes_until_it_is_earned_again() -> None:
    controller = Controller(EVEN, TIGHT)
    observe(controller, np.full(8, 0.9), np.full(8, False))
    assert controller.credit == pytest.approx(5 - 8 * 0.9)
    assert controller.threshold is None
    observe(controller, np.full(21, 0.9), np.full(21, True))
    assert controller.credit < 0
    assert controller.threshold is None
    observe(controller, np.full(100, 0.9), np.full(100, True))
    assert controller.threshold is not None
    assert controller.threshold <= 0.9


def test_credit_is_not_saved_beyond_a_full_one() -> None:
    controller = Controller(EVEN, TIGHT)
    observe(controller, np.full(10_000, 0.1), np.full(10_000, False))
    assert controller.credit == TIGHT.credit


@given(st.lists(st.integers(1, 40), min_size=2, max_size=12), st.integers(0, 100))
def test_how_outcomes_are_divided_into_calls_does_not_matter(sizes: list[int], seed: int) -> None:
    n = sum(sizes)
    scores, truths = assignment(seed, n, 0.5)
    in_force = np.random.default_rng(seed).random(n)
    whole, parts = Controller(EVEN, TIGHT), Controller(EVEN, TIGHT)
    whole.observe(scores, in_force, truths)
    for end, size in zip(np.cumsum(sizes), sizes, strict=True):
        own = slice(end - size, end)
        parts.observe(scores[own], in_force[own], truths[own])
    for name in ("credit", "mass", "false", "true"):
        assert np.allclose(getattr(parts, name), getattr(whole, name), atol=1e-9)
    assert parts.false_positives == whole.false_positives


@pytest.mark.parametrize("static", [0.2, EVEN, 0.99, None])
def test_without_drift_it_finds_the_threshold_that_uses_the_bound(static: float | None) -> None:
    random = np.random.default_rng(1)
    n = 60_000
    truths = random.random(n) < 0.3
    log_odds = np.where(truths, 2, -2) + random.normal(0, 1.5, n)
    scores = 1 / (1 + np.exp(-log_odds))
    yes = play(Controller(static, SETTINGS), scores, truths)[n // 2 :]
    best = scores[n // 2 :] >= np.quantile(scores[n // 2 :] * ~truths[n // 2 :], 0.99)
    assert 0.006 < np.mean(yes & ~truths[n // 2 :]) < 0.0105
    assert np.mean(yes & truths[n // 2 :]) > 0.92 * np.mean(best & truths[n // 2 :])


def test_after_drift_it_returns_to_the_bound() -> None:
    before, after = assignment(1, 10_000), assignment(2, 30_000, 0.1)
    controller = Controller(0.97, SETTINGS)
    play(controller, *before)
    yes = play(controller, *after)
    wrong = yes & ~after[1]
    assert (after[0] >= 0.97)[~after[1]].mean() > 0.02  # what the calibrated threshold would do
    assert wrong.sum() <= 0.01 * len(wrong) + SETTINGS.credit + 50
    assert wrong[10_000:].mean() <= 0.01


def test_a_yes_that_is_more_often_false_than_true_is_none() -> None:
    scores, truths = assignment(1, 40_000, 0.004)
    yes = play(Controller(None, SETTINGS), scores, truths)
    assert truths.sum() > 20
    assert yes.mean() < 0.001


def test_arrays_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="of 2 scores, 2 thresholds and 1 truths"):
        Controller(EVEN, SETTINGS).observe(np.zeros(2), np.zeros(2), np.array([True]))


@pytest.mark.parametrize("memory", [100, 1000, 10_000])
@pytest.mark.parametrize("aim", [0.5, 0.8])
@pytest.mark.parametrize("static", [0.7, None])
def test_no_threshold_is_lower_before_so_many_outcomes_though_all_come_true(
    memory: int, aim: float, static: float | None
) -> None:
    settings = ControlSettings(memory=memory, aim=aim)
    least = outcomes_to_lower(settings)

    def after(outcomes: int) -> float | None:
        controller = Controller(static, settings)
        zeros = np.zeros(outcomes)
        controller.observe(zeros, np.ones(outcomes), np.ones(outcomes, dtype=bool))
        return controller.threshold

    assert after(least - 1) == static
    assert after(least) == 0.0


def test_with_more_false_positives_nothing_is_a_yes() -> None:
    settings = ControlSettings(memory=1000, patience=2000)
    controller = Controller(0.5, settings)
    for _ in range(200):
        in_force = np.array([2.0 if controller.threshold is None else controller.threshold])
        controller.observe(np.array([0.9]), in_force, np.array([False]))
        most = most_false_positives(settings, controller.outcomes)
        assert controller.threshold is None or controller.false_positives <= most
    assert controller.threshold is None
