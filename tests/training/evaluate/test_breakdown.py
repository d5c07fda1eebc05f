from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from birthmark.training.config import Settings
from birthmark.training.evaluate.assessment import Assessment, assess
from birthmark.training.evaluate.breakdown import BREAKDOWN, break_down, groupings
from birthmark.training.learn.train import Lives, train

Make = Callable[..., Any]
COUNTS = ("n", "n_true", "n_correct", "n_true_positive", "n_false_positive")


@pytest.fixture(scope="module")
def assessment(days: list[tuple[pa.Table, pa.Table]]) -> Assessment:
    model, _ = train(Lives(("monday",), *days[0]), Settings(trees=4, rounds=2))
    return assess(model, *days[1])


@pytest.mark.parametrize("by", ["user", "client", "depth"])
def test_the_groups_add_up_to_the_whole(assessment: Assessment, by: str) -> None:
    assert assessment.breakdown.schema.equals(BREAKDOWN)
    keys = ["subject", "predicate", "model", "point"]
    parts = assessment.breakdown.filter(pc.equal(assessment.breakdown["by"], by))
    sums = parts.group_by(keys).aggregate([(column, "sum") for column in COUNTS])
    whole = {tuple(r[k] for k in keys): r for r in assessment.evaluation.to_pylist()}
    assert len(sums) == len(whole)
    for row in sums.to_pylist():
        for column in COUNTS:
            assert row[f"{column}_sum"] == whole[tuple(row[k] for k in keys)][column]


def test_small_groups_are_shown_as_one_and_a_missing_user_as_unknown(
    life: Make, files_of: Make
) -> None:
    users = [1] * 5 + [2] * 4 + [3] * 3 + [4, 5, 6] + [None, None]
    files = files_of(*(life(b"f%d" % n, n, uid=uid) for n, uid in enumerate(users)))
    user, client, depth = groupings(files, files, most=3)
    assert (user.by, user.names) == ("user", ["1", "2", "3", "other"])
    assert np.bincount(user.of_row).tolist() == [5, 4, 3, 5]
    assert (client.names, depth.names) == (["unknown"], ["0"])
    user, *_ = groupings(files, files, most=6)
    # one more group than may be shown is shown: `other` would be no shorter
    assert sorted(user.names) == ["1", "2", "3", "4", "5", "6", "unknown"]


def test_a_group_that_a_model_fails_shows_it(life: Make, files_of: Make) -> None:
    files = files_of(*(life(b"f%d" % n, n, uid=n % 2) for n in range(20)))
    grouping = groupings(files, files)[0]
    truth = np.ones(18, bool)
    known = np.arange(20) < 18
    answers = np.arange(18) % 2 == 1
    rows = {row["group"]: row for row in break_down(grouping, known, truth, answers, False)}
    assert (rows["1"]["n"], rows["1"]["correct"], rows["1"]["true_positives"]) == (9, 100, 100)
    assert (rows["0"]["n"], rows["0"]["correct"], rows["0"]["guess"]) == (9, 0, 0)
