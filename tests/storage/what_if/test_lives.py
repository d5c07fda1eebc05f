"""When files were made and died, as a dataset's table of files tells."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from birthmark.storage.what_if.lives import NO_BIRTHS, Births, Deaths
from tests.builders.served import START_US, dataset, handles, lives


def test_files_are_met_when_they_died_each_once_and_none_of_another_server(tmp_path: Path) -> None:
    rows = [{"fh": 5, "died": 300}, {"fh": 6, "died": 100}, {"fh": 7}, {"fh": 8, "died": 300}]
    found = Deaths.of(dataset(tmp_path / "d", files=lives(*rows)), "10.0.0.1")
    which, files = found.at(np.array([100, 200, 300, 300, 300]) + START_US)
    assert which.tolist() == [0, 2, 3]
    assert files.to_pylist() == handles([6, 5, 8]).to_pylist()
    nobody = Deaths.of(tmp_path / "d", "10.0.0.2")
    assert nobody.at(np.array([100]) + START_US)[0].tolist() == []


def test_a_file_s_hints_apply_at_its_birth() -> None:
    births = Births(np.array([10, 20, 20]), np.array([8, 1, 2]))
    assert births.at(np.array([20, 5, 20, 10, 30])).tolist() == [1, 0, 2, 8, 0]
    assert NO_BIRTHS.at(np.array([10, 20])).tolist() == [0, 0]
