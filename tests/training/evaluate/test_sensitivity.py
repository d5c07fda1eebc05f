from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from birthmark.training.config import Settings
from birthmark.training.evaluate.evaluation import TABLE_6_5, evaluate
from birthmark.training.evaluate.sensitivity import MINFRACS, SENSITIVITY, sensitivity
from birthmark.training.learn.train import Lives, train

Make = Callable[..., Any]


@pytest.fixture
def day(life: Make, files_of: Make, names_of: Make) -> Lives:
    """A day on which 9 of 10 files in .tmp and all of 8 in .lock are empty."""
    rows = [life(b"%d.tmp" % n, n, 1, max_size=0 if n else 10) for n in range(10)]
    rows += [life(b"%d.lock" % n, n, 1, max_size=0) for n in range(8)]
    rows += [life(b"%d.data" % n, n, 1, max_size=10, writes=1) for n in range(8)]
    return Lives(("day",), files_of(*rows), names_of(*rows))


def test_a_higher_minfrac_drops_the_rules_below_it_and_their_false_positives(day: Lives) -> None:
    model, _ = train(day, Settings(calibration=0))
    table = sensitivity(model, day.files, day.names)
    assert table.schema.equals(SENSITIVITY)
    rows = [r for r in table.to_pylist() if (r["subject"], r["predicate"]) == ("file", "size=zero")]
    assert [row["minfrac"] for row in rows] == list(MINFRACS)
    # tmp$ holds for 9 of its 10 names, lock$ for all of its 8 (Figure 6.3: n_M/n_A < minfrac).
    assert [row["rules"] for row in rows] == [2, 2, 2, 2, 1, 1, 1, 1]
    assert [row["n_false_positive"] for row in rows] == [1, 1, 1, 1, 0, 0, 0, 0]
    assert [row["n_true_positive"] for row in rows] == [17, 17, 17, 17, 8, 8, 8, 8]


def test_at_the_models_own_minfrac_the_figures_are_those_of_its_evaluation(day: Lives) -> None:
    model, _ = train(day, Settings(minfrac=0.95, calibration=0))
    own = evaluate(model, day.files, day.names).to_pylist()
    tried: pa.Table = sensitivity(model, day.files, day.names, [0.95])
    expected = [
        {column.name: row[column.name] for column in TABLE_6_5}
        for row in own
        if (row["model"], row["point"]) == ("name", "accurate")
    ]
    assert tried.drop_columns(["minfrac", "rules"]).to_pylist() == expected


@pytest.mark.deep
def test_trying_other_thresholds_leaves_the_model_as_it_was(day: Lives) -> None:
    model, _ = train(day, Settings(calibration=0))
    before = evaluate(model, day.files, day.names)
    sensitivity(model, day.files, day.names)
    assert evaluate(model, day.files, day.names).equals(before)
