from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
import typer
from typer.testing import CliRunner

from birthmark.commands import evaluate
from birthmark.data.ingest.run import ingest
from birthmark.predictor import BUILT_IN, own_predicate
from birthmark.predictor.models.estimators.estimator import from_config
from birthmark.training.config import Settings
from birthmark.training.learn.train import Lives, train
from birthmark.training.registry.versions import Registry
from birthmark.training.reports.side_by_side import differences, figures, means

LOCK = BUILT_IN["lock"]
TREE = from_config(
    {
        "kind": "shallow",
        "class": "sklearn.tree:DecisionTreeClassifier",
        "parameters": {"max_depth": 2},
    }
)


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory,
    days: list[tuple[pa.Table, pa.Table]],
    traces: list[str],
) -> tuple[Registry, list[str], Path]:
    """Return a registry, its two versions, and a dataset to test them on."""
    folder = tmp_path_factory.mktemp("compared")
    registry = Registry(folder / "registry")
    few: dict[str, Any] = {"trees": 2, "rounds": 1}
    made = [
        train(Lives(("monday",), *days[0]), Settings(**few), [LOCK]),
        train(
            Lives(("tuesday",), *days[1]),
            Settings(**few, minfrac=0.9),
            [LOCK, own_predicate("large", "size > 1000")],
            {"shallow": TREE},
        ),
    ]
    versions = [registry.publish(model.save, manifest) for model, manifest in made]
    (folder / "day.txt").write_text(traces[2])
    ingest([folder / "day.txt"], folder / "day")
    return registry, versions, folder / "day"


@pytest.mark.deep
def test_only_what_differs_is_shown(place: tuple[Registry, list[str], Path]) -> None:
    registry, versions, _ = place
    frame = differences(registry, versions)
    assert list(frame.columns) == versions
    assert frame.loc["minfrac"].tolist() == [0.8, 0.9]
    assert frame.loc["datasets"].tolist() == [["monday"], ["tuesday"]]
    assert frame.loc["predicates"].tolist() == [1, 2]
    _, own = frame.loc["predicate large"]
    assert own == "subject file, expression size > 1000"
    _, made = frame.loc["estimator shallow"]
    assert made == "sklearn.tree:DecisionTreeClassifier(max_depth=2)"
    assert "held-out errors, shallow" in frame.index
    assert not {"trees", "files", "serve"} & set(frame.index)


@pytest.mark.deep
def test_versions_are_tested_on_the_same_dataset(place: tuple[Registry, list[str], Path]) -> None:
    registry, versions, day = place
    tested = figures(registry, versions, day)
    assert set(tested["version"]) == set(versions)
    assert "shallow" not in set(tested["model"])
    assert "shallow" in set(figures(registry, versions[1:], day, estimators=True)["model"])
    found = means(tested)
    assert set(found.columns) == {"correct", "true_positives", "false_positives"}
    assert found.loc[("name", versions[0]), "correct"] == 100
    empty = day.parent / "none"
    (day.parent / "none.txt").write_text(
        "1.0 31.03f7 30.0801 U C3 1 1 getattr fh 01 con = XXX len = XXX\n"
    )
    ingest([day.parent / "none.txt"], empty)
    with pytest.raises(ValueError, match="expected files with a visible creation"):
        figures(registry, versions, empty)


def test_means_are_of_the_predicates_that_all_know() -> None:
    rows = [
        ("one", "file", "lock", "name", "accurate", 90.0),
        ("one", "file", "lock", "name", "bounded", 80.0),
        ("two", "file", "lock", "name", "accurate", 70.0),
        ("two", "file", "lock", "name", "bounded", 60.0),
        ("two", "file", "other", "name", "accurate", 0.0),
        ("one", "name", "lock", "name", "accurate", 0.0),
    ]
    columns = ["version", "subject", "predicate", "model", "point", "correct"]
    frame = pd.DataFrame(rows, columns=columns).assign(n=5, false_positives=1.0)
    found = means(frame.assign(true_positives=frame["correct"] / 10))
    assert found["correct"].to_dict() == {("name", "one"): 90.0, ("name", "two"): 70.0}
    assert found["true_positives"].to_dict() == {("name", "one"): 8.0, ("name", "two"): 6.0}


@pytest.mark.deep
def test_the_command_shows_them_side_by_side(
    place: tuple[Registry, list[str], Path], tmp_path: Path
) -> None:
    registry, versions, day = place
    app = typer.Typer()
    app.add_typer(evaluate.app, name="evaluate")

    def run(*arguments: object, code: int = 0) -> str:
        words = ["evaluate", "versions", *map(str, arguments), "--registry", str(registry.path)]
        result = CliRunner().invoke(app, words, env={"COLUMNS": "200"})
        assert result.exit_code == code, result.output
        return result.output

    words = ["-m", "birthmark", "evaluate", "versions", *versions, "--registry", str(registry.path)]
    done = subprocess.run([sys.executable, *words], capture_output=True, check=True, text=True)
    assert "What differs" in done.stdout  # by the program itself, which else does without pandas
    text = run(*versions)
    assert "minfrac " in text
    assert "Correct" not in text
    out = tmp_path / "figures.parquet"
    text = run(*versions, "--dataset", day, "--parquet", out)
    assert "\n\nMeans over the predicates of files" in text
    assert set(pd.read_parquet(out)["version"]) == set(versions)
    report = json.loads(run(*versions, "--dataset", day, "--estimators", "--json"))
    assert report["differences"]["minfrac"] == dict(zip(versions, [0.8, 0.9], strict=True))
    assert {row["model"] for row in report["means"]} >= {"best", "shallow"}
    assert "expected two versions or more" in run(versions[0], code=2)
    assert "is for the tests on a --dataset" in run(*versions, "--parquet", out, code=2)
