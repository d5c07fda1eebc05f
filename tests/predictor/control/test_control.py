from __future__ import annotations

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from birthmark.predictor.answers.operating_points import NEVER
from birthmark.predictor.control import Control, ControlSettings, Ledger

STATIC = {("lock", "directory"): 0.8, ("lock", "nothing"): None, ("size=zero", "directory"): 0.0}
SETTINGS = ControlSettings(bound=0.05, memory=500)


def feed(control: Control, seed: int, batches: int) -> None:
    """Let outcomes of every row be known, answered at the thresholds in force."""
    random = np.random.default_rng(seed)
    for _ in range(batches):
        for (predicate, level), threshold in control.thresholds().items():
            scores = random.random(20)
            in_force = np.full(20, np.nan if threshold is None else threshold)
            control.observe(predicate, level, scores, in_force, random.random(20) < scores**2)


def stored(table: pa.Table) -> pa.Table:
    """Return a table as it comes back from a file."""
    file = io.BytesIO()
    pq.write_table(table, file)
    return pq.read_table(file)


def test_each_predicate_and_level_has_a_threshold_of_its_own() -> None:
    control = Control(STATIC, SETTINGS)
    assert control.thresholds() == STATIC
    control.observe("lock", "directory", np.full(30, 0.9), np.full(30, 0.8), np.full(30, False))
    assert control.thresholds() == {**STATIC, ("lock", "directory"): None}


def test_an_answer_without_a_threshold_was_no_yes() -> None:
    control = Control(STATIC, SETTINGS)
    for never in (np.nan, NEVER):
        control.observe("lock", "nothing", np.ones(9), np.full(9, never), np.full(9, False))
    assert control.controllers["lock", "nothing"].ledger == Ledger(0.05, 18, 0)


def test_started_again_it_goes_on_as_if_it_had_never_stopped() -> None:
    undisturbed, stopped = Control(STATIC, SETTINGS, "v1"), Control(STATIC, SETTINGS, "v1")
    feed(undisturbed, 1, 15)
    feed(undisturbed, 2, 15)
    feed(stopped, 1, 15)
    again = Control.from_table(stored(stopped.to_table()))
    assert again.thresholds() == stopped.thresholds() != STATIC
    feed(again, 2, 15)
    assert again.to_table().equals(undisturbed.to_table(), check_metadata=True)
    assert (again.version, again.settings) == ("v1", SETTINGS)


def test_its_state_is_small() -> None:
    rows = {(f"predicate{number}", "directory"): 0.5 for number in range(100)}
    control = Control(rows)
    feed(control, 1, 3)
    assert control.to_table().nbytes < 500_000


def test_a_damaged_state_is_refused() -> None:
    table = Control(STATIC, SETTINGS).to_table()
    counts = table.schema.get_field_index("false")
    short = pa.array([[1.0]] * 3, pa.list_(pa.float64()))
    damaged = [
        table.replace_schema_metadata({}),
        table.replace_schema_metadata({b"birthmark.control": b"{}"}),
        table.drop_columns(["mass"]),
        table.set_column(counts, "false", short),
    ]
    for each in damaged:
        with pytest.raises(ValueError, match="expected"):
            Control.from_table(each)


def test_invalid_settings_are_refused() -> None:
    for wrong in ({"bound": 0.0}, {"bound": 1.0}, {"aim": 0.0}, {"aim": 1.1}):
        with pytest.raises(ValueError, match="a bound above 0"):
            ControlSettings(**wrong)
    with pytest.raises(ValueError, match="1 or more outcomes"):
        ControlSettings(memory=0)
