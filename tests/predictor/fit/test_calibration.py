"""Tests also data/common/arrays.py."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from birthmark.data.common.arrays import Bools
from birthmark.features import CREATES
from birthmark.predictor.answers.certainty import answer
from birthmark.predictor.answers.operating_points import Levels, OperatingPoints
from birthmark.predictor.answers.point import POINTS
from birthmark.predictor.fit.calibration import BLOCKS, CROSSED, Holdout
from birthmark.predictor.fit.learning import TrainingSet
from birthmark.predictor.fit.thresholds import Limit, Limits
from birthmark.predictor.models.model_set import ModelSet
from birthmark.predictor.models.rules.set import RuleModels

MONDAY = datetime(2001, 10, 22, tzinfo=UTC)


def births(count: int) -> pa.Table:
    times = [MONDAY + timedelta(seconds=second) for second in range(count)]
    return pa.table({"born": pa.array(times, pa.timestamp("us", "UTC"))})


def creates(names: list[bytes]) -> pa.Table:
    columns = {field.name: pa.nulls(len(names), field.type) for field in CREATES}
    return pa.table({**columns, "name": pa.array(names, CREATES.field("name").type)})


def calibrated(names: list[bytes], truth: Bools, limit: Limit, holdout: Holdout) -> ModelSet[Any]:
    """Return rules that learned which of ``names`` are true, and were calibrated on them."""
    bounds = dict.fromkeys(("bound", "false_negative_bound"), limit.bound)
    limits = {**bounds, "confidence": limit.confidence}
    parameters = {"prefix": False, **limits}
    training_set = TrainingSet(creates(names), {"yes": pa.array(truth)}, holdout, parameters, [])
    models = training_set.train(RuleModels(), holdout.learned)
    training_set.finish(
        models, [training_set.out_of_fold_scores(models, fold) for fold in holdout.folds]
    )
    return models


def test_few_births_are_all_learned_from_and_each_is_in_a_long_stretch_of_time() -> None:
    holdout = Holdout.of(births(1000), 0.2)
    assert holdout.crossed
    assert holdout.learned.all()
    assert holdout.held.all()
    assert holdout.fold.tolist() == [place // 200 for place in range(1000)]
    assert sorted(set(holdout.block.tolist())) == list(range(BLOCKS))


def test_with_many_births_every_nth_block_is_held_out() -> None:
    holdout = Holdout.of(births(1000), 0.2, crossed=False)
    assert not holdout.crossed
    assert np.array_equal(holdout.learned, ~holdout.held)
    assert np.array_equal(holdout.held, holdout.block % 5 == 4)
    assert not Holdout.of(births(CROSSED + 1), 0.25).crossed
    assert Holdout.of(births(CROSSED), 0.25).crossed


def test_without_a_share_all_are_learned_from_and_no_threshold_is_chosen() -> None:
    holdout = Holdout.of(births(10), 0)
    assert holdout.learned.all()
    assert not holdout.held.any()
    assert calibrated([b"a"] * 10, np.full(10, True), Limit(), holdout).points == {}
    with pytest.raises(ValueError, match=r"is 0 to 0\.5, not 0\.6"):
        Holdout.of(births(10), 0.6)


@pytest.mark.parametrize("crossed", [True, False])
def test_no_birth_is_scored_by_a_model_that_learned_from_it(crossed: bool) -> None:
    # each name comes twice, side by side, and its truth is chance: who has seen it is sure
    truth = np.repeat(np.random.default_rng(1).random(1000) < 0.5, 2)
    names = [b"%d.x" % (place // 2) for place in range(2000)]
    holdout = Holdout.of(births(2000), 0.2, crossed=crossed)
    models = calibrated(names, truth, Limit(0.05, 0.9), holdout)
    assert models.point("yes").n == (2000 if crossed else 400)
    assert models.point("yes").bounded is None


@pytest.mark.deep
def test_the_bound_holds_as_often_as_it_promises() -> None:
    limit, splits, rows, kinds = Limit(0.03, 0.9), 200, 1500, 40
    share = np.random.default_rng(2).random(kinds) ** 2
    share[: kinds // 4] = 1 - share[: kinds // 4] / 20
    suffixes = [b"file.%02d" % kind for kind in range(kinds)]
    holdout, broken, spoke = Holdout.of(births(rows), 0.2), 0, 0
    for seed in range(splits):
        random = np.random.default_rng(seed)
        kind = random.integers(0, kinds, rows)
        truth = random.random(rows) < share[kind]
        models = calibrated([suffixes[place] for place in kind], truth, limit, holdout)
        answers = np.asarray(models.predict(creates(suffixes), "bounded")["yes"])
        broken += float(np.mean(answers * (1 - share))) > limit.bound
        spoke += answers.any()
    allowed = splits * (1 - limit.confidence)
    assert broken <= allowed + 2 * np.sqrt(allowed)
    assert spoke > 0.9 * splits


def implied(bound: float) -> tuple[Holdout, dict[str, Any], dict[str, Any], Limits, list[Any]]:
    """A yes to `a` implies one to `b`; each is wrong of other files, 1% of all."""
    n = 100_000
    row = np.random.default_rng(0).permutation(n)
    truth = {"a": row < 10_000, "b": row < 60_000}
    scores = {key: np.where(own, 0.9, 0.1) for key, own in truth.items()}
    scores["b"][(row >= 50_000) & (row < 70_000)] = 0.5
    scores["a"][(row >= 60_000) & (row < 61_000)] = 0.9
    scores["b"][(row >= 70_000) & (row < 71_000)] = 0.9
    labels = {key: pa.array(own) for key, own in truth.items()}
    limits = Limits(Limit(bound), Limit(bound))
    assignments = [{"a": [True, False, False], "b": [True, True, False]}]
    return Holdout(np.arange(n) // 1000, np.zeros(n, np.int64)), scores, labels, limits, assignments


@pytest.mark.parametrize("bound", [0.012, 0.03])
def test_implied_answers_are_added_and_the_bound_is_kept_with_them(bound: float) -> None:
    """Where both together break it, the one that loses fewer right answers says less."""
    holdout, scores, labels, limits, assignments = implied(bound)
    chosen = holdout.choose(ModelSet(), [scores], labels, limits, assignments)
    assert all(own.follows == POINTS for own in chosen.values())
    answers = answer(scores, chosen, assignments, "bounded")
    yes = {key: own.is_word("yes") for key, own in answers.items()}
    assert not np.any(yes["a"] & ~yes["b"])
    for key, truth in labels.items():
        assert np.mean(yes[key] & ~np.asarray(truth)) <= bound
    assert chosen["b"].bounded == 0.9
    assert (chosen["a"].bounded is None) is (bound == 0.012)


@pytest.mark.parametrize("bound", [0.012, 0.03])
def test_implications_of_another_kind_are_judged_with_that_kind(bound: float) -> None:
    """What was found of each predicate's own kind, with others, does not count."""
    holdout, scores, labels, limits, assignments = implied(bound)
    sure = Levels((0.5, 0.9), (0.01, 0.4, 0.98))
    own = OperatingPoints(0.9, 0.9, len(scores["a"]), no=None, levels=sure)
    points = holdout.with_implications({"a": own, "b": own}, [scores], labels, limits, assignments)
    assert points["b"] == replace(own, follows=POINTS)
    assert points["a"] == replace(own, follows=POINTS, bounded=0.9 if bound == 0.03 else None)


def test_without_assignments_only_a_yes_gets_a_threshold() -> None:
    names = [b"a%d.lock" % n if n % 2 else b"b%d.txt" % n for n in range(2000)]
    truth = np.arange(2000) % 2 == 1
    holdout = Holdout.of(births(2000), 0.2)
    limits = {"bound": 0.01, "false_negative_bound": 0.01, "confidence": 0.95, "prefix": False}
    training_set = TrainingSet(creates(names), {"yes": pa.array(truth)}, holdout, limits)
    models = training_set.train(RuleModels(), holdout.learned)
    training_set.finish(
        models, [training_set.out_of_fold_scores(models, fold) for fold in holdout.folds]
    )
    assert models.point("yes").bounded is not None
    assert models.point("yes").no is None
    assert models.point("yes").levels.cuts == ()
