from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from birthmark.data.common.arrays import Bools
from birthmark.features import CREATES
from birthmark.predictor.answers.levels import Levels
from birthmark.predictor.answers.operating_points import OperatingPoints
from birthmark.predictor.fit.calibration import BLOCKS, CROSSED, Holdout
from birthmark.predictor.fit.learning import Lesson
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
    lesson = Lesson(creates(names), {"yes": pa.array(truth)}, holdout, parameters, [])
    models = lesson.train(RuleModels(), holdout.learned)
    lesson.finish(models, [lesson.asked(models, fold) for fold in holdout.folds])
    return models


def test_few_births_are_all_learned_from_and_each_is_in_a_long_stretch_of_time() -> None:
    holdout = Holdout.of(births(1000), 0.2)
    assert holdout.crossed
    assert holdout.learned.all()
    assert holdout.held.all()
    assert holdout.fold.tolist() == [place // 200 for place in range(1000)]
    assert sorted(set(holdout.block.tolist())) == list(range(BLOCKS))


def test_of_many_births_every_so_many_blocks_are_kept_from_learning() -> None:
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
        said = np.asarray(models.predict(creates(suffixes), "bounded")["yes"])
        broken += float(np.mean(said * (1 - share))) > limit.bound
        spoke += said.any()
    allowed = splits * (1 - limit.confidence)
    assert broken <= allowed + 2 * np.sqrt(allowed)
    assert spoke > 0.9 * splits


@pytest.mark.parametrize(("bound", "follows"), [(0.012, False), (0.03, True)])
def test_what_follows_is_said_only_where_the_bounds_are_kept_with_it(
    bound: float, follows: bool
) -> None:
    """A yes to `a` implies one to `b`; each is wrong of other files, 1% of all."""
    n = 100_000
    row = np.random.default_rng(0).permutation(n)
    truth = {"a": row < 10_000, "b": row < 60_000}
    scores = {key: np.where(own, 0.9, 0.1) for key, own in truth.items()}
    scores["b"][(row >= 50_000) & (row < 70_000)] = 0.5
    scores["a"][(row >= 60_000) & (row < 61_000)] = 0.9
    scores["b"][(row >= 70_000) & (row < 71_000)] = 0.9
    models: ModelSet[Any] = ModelSet()
    labels = {key: pa.array(own) for key, own in truth.items()}
    limits = Limits(Limit(bound), Limit(bound))
    holdout = Holdout(np.arange(n) // 1000, np.zeros(n, np.int64))
    worlds = [{"a": [True, False, False], "b": [True, True, False]}]
    chosen = holdout.choose(models, [scores], labels, limits, worlds)
    assert chosen["b"].bounded == 0.9
    assert ("bounded" in chosen["b"].follows) is follows


@pytest.mark.parametrize("bound", [0.012, 0.03])
def test_what_follows_from_another_kind_is_judged_anew(bound: float) -> None:
    """As above; what was found of each predicate's own kind, with others, does not count."""
    n = 100_000
    row = np.random.default_rng(0).permutation(n)
    truth = {"a": row < 10_000, "b": row < 60_000}
    scores = {key: np.where(own, 0.9, 0.1) for key, own in truth.items()}
    scores["a"][(row >= 60_000) & (row < 61_000)] = 0.9
    scores["b"][(row >= 70_000) & (row < 71_000)] = 0.9
    labels = {key: pa.array(own) for key, own in truth.items()}
    limits = Limits(Limit(bound), Limit(bound))
    holdout = Holdout(np.arange(n) // 1000, np.zeros(n, np.int64))
    worlds = [{"a": [True, False, False], "b": [True, True, False]}]
    sure = Levels((0.9,), (0.01, 0.98))
    own = OperatingPoints(0.9, 0.9, n, no=0.9, levels=sure, follows=("accurate", "bounded"))
    other = replace(own, no=None, levels=Levels((0.9,), (0.3, 0.98)))
    points = holdout.followed({"a": own, "b": other}, [scores], labels, limits, worlds)
    assert ("bounded" in points["b"].follows) is (bound == 0.03)
    assert points["b"] == replace(other, follows=points["b"].follows)


def test_without_worlds_only_a_yes_gets_a_threshold() -> None:
    names = [b"a%d.lock" % n if n % 2 else b"b%d.txt" % n for n in range(2000)]
    truth = np.arange(2000) % 2 == 1
    holdout = Holdout.of(births(2000), 0.2)
    limits = {"bound": 0.01, "false_negative_bound": 0.01, "confidence": 0.95, "prefix": False}
    lesson = Lesson(creates(names), {"yes": pa.array(truth)}, holdout, limits)
    models = lesson.train(RuleModels(), holdout.learned)
    lesson.finish(models, [lesson.asked(models, fold) for fold in holdout.folds])
    assert models.point("yes").bounded is not None
    assert models.point("yes").no is None
    assert models.point("yes").levels.cuts == ()
