"""Training in tasks: the same bytes whoever runs them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from predictor import BUILT_IN, TrainedModel
from predictor.learning import Learner
from predictor.learning_apart import Apart

Day = tuple[pa.Table, pa.Table]


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def in_turn(tasks: Iterable[Any]) -> list[Any]:
    return [function(*given, **named) for function, given, named in tasks]


@pytest.mark.parametrize("calibration", [0.0, 0.2])
def test_models_that_learn_apart_are_those_that_learn_together(
    calibration: float, days: list[Day], tmp_path: Path
) -> None:
    (tmp_path / "tasks").mkdir()
    learners: dict[str, Learner | None] = {
        "here": None,
        "apart": Apart(tmp_path / "tasks", in_turn, slice_rows=7),
    }
    for name, learner in learners.items():
        model = TrainedModel(trees=4, rounds=2, calibration=calibration)
        model.fit(*days[0], BUILT_IN.values(), learner=learner)
        (tmp_path / name).mkdir()
        model.save(tmp_path / name)
    assert contents(tmp_path / "apart") == contents(tmp_path / "here")
