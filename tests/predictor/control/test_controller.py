from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from birthmark.predictor.answers.operating_points import ALWAYS, EVEN, NEVER
from birthmark.predictor.control import Controller, ControlSettings
from birthmark.predictor.control.controller import CLUSTER, outcomes_to_lower
from birthmark.predictor.control.ledger import most_false_positives

TIGHT = ControlSettings(bound=0.1, memory=20)
"""Few outcomes decide."""

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
        self.counted = self.wrong = self.excess = 0.0

    def ask(self, score: float | None, truth: bool) -> None:
        """Ask of a file; without a score, of one that just reaches the threshold, or never does."""
        threshold = self.controller.threshold
        score = (threshold or 0.0) if score is None else score
        self.open.append((score, number(threshold), truth))
        self.controller.expect(*(np.array([each]) for each in self.open[-1][:2]))
        # the reserve may run out with any answer: what is pending then may be false
        yes = [not truth for score, in_force, truth in self.open if score >= in_force]
        self.excess = max(self.excess, sum(yes) - min(len(yes) / 2, CLUSTER))

    def tell(self, places: list[int]) -> None:
        """Tell some outcomes, in any order."""
        for place in places:
            if self.open:
                score, in_force, truth = self.open.pop(place % len(self.open))
                self.controller.observe(*(np.array([each]) for each in (score, in_force, truth)))
                self.counted += 1
                self.wrong += score >= in_force and not truth
        assert self.wrong == self.controller.ledger.false_positives
        assert self.counted == self.controller.ledger.outcomes

    def allowed(self) -> float:
        """Return the most false positives by the guarantee."""
        most = most_false_positives(self.controller.settings.bound, self.counted)
        return most + 1 + self.excess


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
        assert adversary.wrong < adversary.allowed()


def test_an_adversary_with_every_threshold_is_never_shown_above_the_bound() -> None:
    adversary = Adversary(Controller(EVEN, TIGHT))
    for turn in range(2000):
        adversary.ask(*((1.0, True) if turn % 2 else (None, False)))
        adversary.tell([0])
        assert not adversary.controller.ledger.is_broken
    assert adversary.wrong > 100  # it goes on saying yes


def test_calibrated_thresholds_alone_would_not_keep_it() -> None:
    adversary = Adversary(Controller(EVEN, replace(TIGHT, on=False)))
    for _ in range(100):
        adversary.ask(1.0, False)
        assert adversary.controller.threshold == EVEN


DELAY, STEP, BIRTHS = 150, 20, 6000
"""In births: a horizon of 30 s at five births a second, thresholds that move every four seconds."""


def drifting(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return scores and truths: groups change what they become, and scores creep up."""
    truths = random.random(BIRTHS) < random.uniform(0.1, 0.6)
    log_odds = np.where(truths, 1, -1) * random.uniform(2, 5) + random.normal(0, 1.5, BIRTHS)
    for start in random.integers(0, BIRTHS, random.integers(0, 4)):
        group = random.random(BIRTHS) < random.uniform(0.02, 0.5)
        group &= (np.arange(BIRTHS) >= start) & (log_odds > 0)
        truths &= ~group
    creep = np.linspace(0, random.uniform(0, 4), BIRTHS)
    return 1 / (1 + np.exp(-log_odds - creep)), truths


def answered(controller: Controller, scores: np.ndarray, truths: np.ndarray) -> tuple[Any, bool]:
    """Return the answers to files whose outcomes come late, and whether it was ever broken."""
    in_force, broken = np.full(len(scores), NEVER), False
    for start in range(0, len(scores) + DELAY, STEP):
        new, due = (
            slice(start, start + STEP),
            slice(max(start - DELAY, 0), max(start - DELAY + STEP, 0)),
        )
        in_force[new] = number(controller.threshold)
        controller.expect(scores[new], in_force[new])
        controller.observe(scores[due], in_force[due], truths[due])
        broken |= controller.ledger.is_broken
    return scores >= in_force, broken


def best_in_hindsight(scores: np.ndarray, truths: np.ndarray) -> float:
    """Return the true positives of the lowest static threshold that keeps the bound."""
    ordered = truths[np.argsort(-scores)]
    false = np.cumsum(~ordered)
    within = np.flatnonzero((false <= 0.01 * len(scores)) & (np.cumsum(ordered) >= false))
    return ordered[: within[-1] + 1].sum() if len(within) else 0


def test_of_streams_with_drift_and_delay_hardly_any_is_ever_shown_above_the_bound() -> None:
    random = np.random.default_rng(1)
    controlled, fixed, true_positives, best = [], [], 0.0, 0.0
    for _ in range(60):
        scores, truths = drifting(random)
        static = float(np.quantile(scores[:1000][~truths[:1000]], 0.985))
        yes, broken = answered(Controller(static, SETTINGS), scores, truths)
        controlled.append(broken)
        fixed.append(answered(Controller(static, replace(SETTINGS, on=False)), scores, truths)[1])
        true_positives += (yes & truths).sum()
        best += best_in_hindsight(scores, truths)
    assert np.mean(controlled) <= 0.05
    assert np.mean(fixed) > 0.2
    assert true_positives > 0.9 * best


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
    assert controller.threshold is None
    observe(controller, np.full(21, 0.9), np.full(21, True))
    assert controller.threshold is None
    observe(controller, np.full(100, 0.9), np.full(100, True))
    assert controller.threshold is not None
    assert controller.threshold <= 0.9


def test_pending_answers_are_reserved_for_until_they_are_no_longer_counted() -> None:
    controller = Controller(EVEN, TIGHT)
    scores, in_force = np.full(4, 0.9), np.full(4, EVEN)
    controller.expect(scores, in_force)
    assert controller.threshold is None
    controller.forget(scores, in_force)
    assert controller.threshold == EVEN
    controller.expect(scores - 0.8, in_force)  # no is no risk
    assert controller.threshold == EVEN


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
    for name in ("mass", "false", "true"):
        assert np.allclose(getattr(parts, name), getattr(whole, name), atol=1e-9)
    assert parts.ledger == whole.ledger


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
    assert not controller.ledger.is_broken
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
