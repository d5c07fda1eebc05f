from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy.stats import beta

from birthmark.predictor.answers.operating_points import NO_LEVELS
from birthmark.predictor.fit.thresholds import (
    ALWAYS,
    EVEN,
    NEVER,
    Limit,
    OperatingPoints,
    Slice,
    choose,
    most_accurate,
    says_yes,
    surely_no,
    upper_limits,
    within_limit,
)

BLOCKS = 25


def population(seed: int, n: int = 60_000, clustered: bool = False) -> tuple[np.ndarray, ...]:
    """Return scores and truths; clustered ones of the same hundred rows are wrong together."""
    random = np.random.default_rng(seed)
    scores, sway = random.random(n), np.zeros(n)
    if clustered:
        sway = np.repeat(random.normal(0, 0.15, n // 100), 100)
    return scores, random.random(n) < np.clip(scores**3 * 0.9 + sway, 0, 1)


def correct(part: Slice, threshold: float | None) -> float:
    """Return the share of right answers at a threshold."""
    return float(np.mean(part.answers(threshold) == part.truth))


def slice_of(scores: np.ndarray, truth: np.ndarray, blocks: int = BLOCKS) -> Slice:
    n = len(scores)
    return Slice(np.asarray(scores, float), np.asarray(truth, bool), np.arange(n) * blocks // n)


@pytest.mark.deep
@pytest.mark.parametrize(("bound", "confidence"), [(0.01, 0.95), (0.05, 0.9), (0.02, 0.8)])
def test_the_bound_holds_as_often_as_it_promises(bound: float, confidence: float) -> None:
    broken, spoke, splits = 0, 0, 300
    for seed in range(splits):
        scores, truth = population(seed)
        picked = np.zeros(len(scores), bool)
        picked[np.random.default_rng(seed).choice(len(scores), 3000, replace=False)] = True
        part = slice_of(scores[picked], truth[picked])
        yes = says_yes(scores[~picked], within_limit(part, Limit(bound, confidence)))
        broken += np.mean(yes & ~truth[~picked]) > bound
        spoke += yes.any()
    allowed = splits * (1 - confidence)
    assert broken <= allowed + 2 * np.sqrt(allowed)
    assert spoke == splits


@pytest.mark.deep
def test_lives_that_err_together_count_for_fewer_than_they_are() -> None:
    broken = {True: 0, False: 0}
    for seed in range(200):
        scores, truth = population(seed, clustered=True)
        blocks = np.arange(len(scores)) // 100
        chosen = np.random.default_rng(seed).choice(blocks[-1] + 1, 30, replace=False)
        picked = np.isin(blocks, chosen)
        for in_blocks in broken:
            block = blocks[picked] if in_blocks else np.arange(picked.sum())
            part = Slice(scores[picked], truth[picked], block)
            threshold = within_limit(part, Limit(0.02, 0.95))
            broken[in_blocks] += np.mean(says_yes(scores, threshold) & ~truth) > 0.02
    assert broken[True] <= 10 + 2 * np.sqrt(10)
    assert broken[False] > broken[True]


def test_the_threshold_is_the_lowest_that_the_limit_admits() -> None:
    scores, truth = population(1, 5000)
    part = slice_of(scores, truth)
    points = choose(part, Limit())
    assert points.bounded is not None
    assert points.n == 5000
    wrong = part.answers(points.bounded) & ~truth
    assert points.false_positives == wrong.mean()
    assert points.upper is not None
    assert wrong.mean() < points.upper <= 0.01
    lower = np.sort(scores)[np.searchsorted(np.sort(scores), points.bounded) - 25]
    more = part.answers(lower) & ~truth
    counts = np.bincount(part.block, more).astype(float)
    assert upper_limits(counts[:, None], 5000, 0.95)[0] > 0.01


def test_without_clusters_the_limit_is_that_of_clopper_and_pearson() -> None:
    alone = np.ones((1, 1)) * 7
    assert upper_limits(alone, 1000, 0.95)[0] == pytest.approx(beta.ppf(0.95, 8, 993))
    even = np.full((10, 1), 2.0)
    assert upper_limits(even, 1000, 0.95)[0] == pytest.approx(beta.ppf(0.95, 21, 980))
    assert upper_limits(np.zeros((10, 1)), 1000, 0.95)[0] == pytest.approx(1 - 0.05 ** (1 / 1000))
    uneven = np.array([[20.0], *[[0.0]] * 9])
    assert upper_limits(uneven, 1000, 0.95)[0] > 2 * upper_limits(even, 1000, 0.95)[0]


def test_where_no_threshold_keeps_the_bound_the_answer_is_no() -> None:
    random = np.random.default_rng(3)
    part = slice_of(random.random(2000), random.random(2000) < 0.5)
    points = choose(part, Limit(0.001))
    assert points.bounded is None
    assert not part.answers(points.at("bounded")).any()
    assert within_limit(slice_of(np.zeros(0), np.zeros(0)), Limit()) is None
    few = slice_of(np.ones(50), np.ones(50))
    assert within_limit(few, Limit(0.01)) is None  # 50 lives cannot tell of one in a hundred


def test_a_model_worse_than_a_constant_answer_that_keeps_the_bound_says_nothing() -> None:
    n = 10_000
    truth = np.zeros(n, bool)
    truth[::200] = True  # one in 200
    misled = np.where(np.arange(n) % 200 == 1, 0.9, 0.1)
    assert within_limit(slice_of(misled, truth), Limit(0.01)) is None
    # almost all are true: always yes keeps the bound, and no model does better
    assert within_limit(slice_of(np.full(n, 0.2), ~truth), Limit(0.01)) == pytest.approx(0.2)
    part = slice_of(np.where(truth, 0.9, 0.1), ~truth)
    threshold = within_limit(part, Limit(0.01))
    assert correct(part, threshold) >= 0.995
    assert threshold in (0.1, ALWAYS)


def test_the_most_accurate_threshold_is_one_half_unless_another_is_surely_better() -> None:
    scores, truth = population(5, 4000)
    calibrated = scores**3 * 0.9
    assert most_accurate(slice_of(calibrated, truth)) == EVEN
    shrunk = slice_of(calibrated / 3, truth)
    found = most_accurate(shrunk)
    assert found == pytest.approx(1 / 6, abs=0.05)
    assert correct(shrunk, found) > correct(shrunk, EVEN)
    never = slice_of(np.random.default_rng(0).random(4000), np.zeros(4000))
    assert most_accurate(never) == NEVER
    assert not never.answers(NEVER).any()


def test_a_decision_that_defines_the_model_stays() -> None:
    scores, truth = population(6, 4000)
    assert choose(slice_of(scores, truth), Limit(), decision=0.8).accurate == 0.8


@pytest.mark.parametrize(
    "values", [{"bound": 0}, {"bound": 1.0}, {"confidence": 1}, {"confidence": 0.5}]
)
def test_a_limit_that_promises_nothing_is_refused(values: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"Input should be (greater|less) than"):
        Limit(**values)


def test_points_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        OperatingPoints.from_json({"accurate": 0.5, "bounded": 3.0})


@pytest.mark.deep
@pytest.mark.parametrize(("bound", "confidence"), [(0.01, 0.95), (0.05, 0.9)])
def test_the_bound_of_a_no_holds_as_often_as_it_promises(bound: float, confidence: float) -> None:
    broken, spoke, splits = 0, 0, 300
    for seed in range(splits):
        scores, truth = population(seed)
        picked = np.zeros(len(scores), bool)
        picked[np.random.default_rng(seed).choice(len(scores), 3000, replace=False)] = True
        no = surely_no(slice_of(scores[picked], truth[picked]), Limit(bound, confidence))
        said_no = ~says_yes(scores[~picked], no)
        broken += np.mean(said_no & truth[~picked]) > bound
        spoke += said_no.any()
    allowed = splits * (1 - confidence)
    assert broken <= allowed + 2 * np.sqrt(allowed)
    assert spoke == splits


def test_a_no_goes_as_far_as_its_limit_admits() -> None:
    scores, truth = population(1, 5000)
    points = choose(slice_of(scores, truth), Limit(), no_limit=Limit(0.02))
    assert points.no is not None
    missed = (scores < points.no) & truth
    assert points.false_negatives == missed.mean()
    assert points.no_upper is not None
    assert missed.mean() < points.no_upper <= 0.02
    further = np.sort(scores)[np.searchsorted(np.sort(scores), points.no) + 25]
    wrong = ((scores < further) & truth).astype(float).reshape(BLOCKS, -1).sum(axis=1)
    assert upper_limits(wrong[:, None], 5000, 0.95)[0] > 0.02
    assert {points.no, points.accurate, points.bounded} <= {*points.levels.cuts}


def test_an_event_more_frequent_than_the_limit_at_the_lowest_score_is_never_a_no() -> None:
    part = slice_of(np.zeros(1000), np.arange(1000) % 4 == 0)
    assert surely_no(part, Limit()) is None
    assert surely_no(slice_of(np.array([]), np.array([])), Limit()) is None


def test_a_rare_event_is_a_no_at_every_score() -> None:
    scores = np.random.default_rng(0).random(5000)
    points = choose(slice_of(scores, np.zeros(5000)), Limit(), no_limit=Limit())
    assert points.no == NEVER


def test_points_tell_how_often_their_answers_were_wrong_where_they_were_chosen() -> None:
    part = slice_of(*population(1, 5000))
    points = choose(part, Limit(0.05))
    assert points.accurate_errors == pytest.approx(1 - correct(part, points.accurate))
    assert points.bounded_errors == pytest.approx(1 - correct(part, points.bounded))
    assert points.errors_at("accurate") < points.errors_at("bounded") < part.truth.mean()
    abstaining = choose(part, Limit(1e-6))
    assert abstaining.bounded is None
    assert abstaining.bounded_errors == pytest.approx(part.truth.mean())
    unknown = choose(slice_of(np.array([]), np.array([])), Limit())
    assert (unknown.errors_at("accurate"), unknown.errors_at("bounded")) == (None, None)


def test_points_are_read_as_they_were_written() -> None:
    points = choose(slice_of(*population(1, 5000)), Limit(), no_limit=Limit())
    assert OperatingPoints.from_json(json.loads(json.dumps(asdict(points)))) == points
    before = {"accurate": 0.5, "bounded": 0.9, "n": 3, "false_positives": 0.0, "upper": 0.1}
    assert OperatingPoints.from_json(before).levels == NO_LEVELS
    with pytest.raises(ValueError, match="from 0 to 1"):
        OperatingPoints.from_json(asdict(points) | {"no": 2.0})
