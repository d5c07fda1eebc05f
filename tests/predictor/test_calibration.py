from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from features import CREATES
from predictor.calibration import BLOCKS, CROSSED, Holdout
from predictor.learning import Lesson
from predictor.model_set import ModelSet
from predictor.rule_models import RuleModels
from predictor.thresholds import Bools, Limit

MONDAY = datetime(2001, 10, 22, tzinfo=UTC)


def births(count: int) -> pa.Table:
    times = [MONDAY + timedelta(seconds=second) for second in range(count)]
    return pa.table({"born": pa.array(times, pa.timestamp("us", "UTC"))})


def creates(names: list[bytes]) -> pa.Table:
    columns = {field.name: pa.nulls(len(names), field.type) for field in CREATES}
    return pa.table({**columns, "name": pa.array(names, CREATES.field("name").type)})


def calibrated(names: list[bytes], truth: Bools, limit: Limit, holdout: Holdout) -> ModelSet[Any]:
    """Return rules that learned which of ``names`` are true, and were calibrated on them."""
    limits = {"bound": limit.bound, "confidence": limit.confidence}
    lesson = Lesson(creates(names), {"yes": pa.array(truth)}, holdout, {"prefix": False, **limits})
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
    assert models.points["yes"].n == (2000 if crossed else 400)
    assert models.points["yes"].bounded is None


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
