from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from birthmark.predictor.heat.means import ShrunkenMeans

ROWS = pa.table({"kind": ["log", "log", "log", "c"], "name": [b"a", b"a", b"b", b"z"]})
VALUES = {"writes": [8.0, 4.0, 0.0, 0.0]}


def learned(strength: float = 1.0) -> ShrunkenMeans:
    return ShrunkenMeans([["kind"], ["kind", "name"]], ["writes"], strength).partial_fit(
        ROWS, VALUES
    )


def ask(means: ShrunkenMeans, kind: str | None, name: bytes | None) -> tuple[float, float]:
    keys = {"kind": pa.array([kind], pa.utf8()), "name": pa.array([name], pa.binary())}
    found = means.predict(pa.table(keys))
    return float(found["writes"][0]), float(found["weight"][0])


def test_an_estimate_is_drawn_to_the_coarser_group_by_its_strength():
    everything = 12 / 4
    log = (12 + everything) / (3 + 1)
    assert ask(learned(), "log", b"a") == (pytest.approx((12 + log) / (2 + 1)), 2)
    assert ask(learned(), "log", b"new") == (pytest.approx(log), 3)
    assert ask(learned(), "new", b"a") == (pytest.approx(everything), 4)
    strong = (12 + 1000 * everything) / (3 + 1000)
    assert ask(learned(1000), "log", b"new")[0] == pytest.approx(strong)


def test_a_key_that_is_null_changes_nothing():
    assert ask(learned(), None, b"a") == ask(learned(), "new", b"new")
    assert ask(learned(), "log", None) == ask(learned(), "log", b"new")


def test_nothing_is_expected_where_nothing_was_learned():
    assert ask(ShrunkenMeans([["kind"], ["name"]], ["writes"]), "log", b"a") == (0, 0)


def test_learning_in_parts_is_learning_at_once():
    parts = ShrunkenMeans([["kind"], ["kind", "name"]], ["writes"])
    for row in range(4):
        parts.partial_fit(ROWS.slice(row, 1), {"writes": VALUES["writes"][row : row + 1]})
    assert parts.sums_.equals(learned().sums_)


def test_a_weight_of_two_is_the_row_twice():
    twice = ShrunkenMeans([["kind"]], ["writes"])
    twice.partial_fit(pa.concat_tables([ROWS, ROWS]), {"writes": VALUES["writes"] * 2})
    weighed = ShrunkenMeans([["kind"]], ["writes"])
    weighed.partial_fit(ROWS, VALUES, weight=np.full(4, 2.0))
    assert weighed.sums_.equals(twice.sums_)


def test_parts_of_a_key_do_not_run_into_each_other():
    keys = pa.table({"kind": ["a", "ab"], "name": [b"bc", b"c"]})
    means = ShrunkenMeans([["kind", "name"]], ["writes"]).partial_fit(keys, {"writes": [9, 0]})
    assert ask(means, "a", b"bc")[1] == 1


@pytest.mark.parametrize("strength", [0, -1, float("nan")])
def test_a_strength_that_makes_no_sense_is_refused(strength):
    with pytest.raises(ValueError, match="strength"):
        ShrunkenMeans([], ["writes"], strength)


def test_keys_of_too_little_weight_count_as_new_and_need_not_be_saved():
    few = ShrunkenMeans([["kind"], ["kind", "name"]], ["writes"], least=3).partial_fit(ROWS, VALUES)
    assert ask(few, "log", b"a") == ask(learned(), "log", b"new")
    assert ask(few, "c", b"z") == ask(learned(), "new", b"z")
    saved = ShrunkenMeans([["kind"], ["kind", "name"]], ["writes"], least=3)
    saved.sums_ = few.deciding()
    assert len(saved.sums_) == 2 < len(few.sums_)
    assert ask(saved, "log", b"a") == ask(few, "log", b"a")
