from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks import ceiling
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return datasets of the bundled days."""
    folder = tmp_path_factory.mktemp("ceiling")
    found = [folder / str(number) for number in range(2)]
    for day, dataset in zip(DAYS, found, strict=False):
        ingest([day], dataset)
    return found


def test_the_forest_and_installed_learners_have_a_row_per_predicate(
    datasets: list[Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    installed = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: None if name == "catboost" else installed(name)
    )
    out = tmp_path / "rows.json"
    learners = ["forest, as served", "CatBoost"]
    days = ["--train", str(datasets[0]), "--test", str(datasets[1])]
    options = ["--learners", *learners, "--json", str(out)]
    monkeypatch.setattr(sys, "argv", ["ceiling", *days, *options])
    ceiling.main()
    rows = json.loads(out.read_text())
    assert {row["learner"] for row in rows} == {"forest, as served"}
    assert len({row["predicate"] for row in rows}) == len(rows) > 5
    assert all(0 <= row["incorrect"] < 50 and row["search"] < 1 for row in rows)
    assert "catboost is not installed" in capsys.readouterr().out


def test_a_search_returns_the_parameters_with_the_fewest_wrong_answers(
    datasets: list[Path],
) -> None:
    data = ceiling.Data.read([datasets[0]], [datasets[1]])
    assert not (data.early & data.late).any()
    columns = []

    def learn(matrix: np.ndarray, labels: np.ndarray, seed: int, right: bool) -> object:
        columns.append(labels.shape[1])
        truth = data.labels[data.late][:, :: len(data.keys) // ceiling.TRIED_ON]
        return lambda rows: np.where(right, truth, 1 - truth)

    candidate = ceiling.Candidate("numpy", learn, {"right": [True, False]}, shared=False)
    assert ceiling.search(candidate, data, 2, seed=0) == {"right": True}
    assert all(ceiling.TRIED_ON <= n < len(data.keys) for n in columns)


def test_the_best_in_hindsight_counts_known_answers_alone() -> None:
    scores = np.arange(200) / 200
    truth = (scores >= 0.5).astype(float)
    assert ceiling.best_in_hindsight(scores, truth) == 50
    truth[scores >= 0.75] = np.nan
    assert ceiling.best_in_hindsight(scores, truth) == pytest.approx(100 / 3)
