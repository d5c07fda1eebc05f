"""Predicates and estimators of users, from a file of theirs to a report."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import typer
from joblib import delayed
from joblib.externals.loky import get_reusable_executor
from typer.testing import CliRunner

from birthmark.commands import models
from birthmark.commands.evaluate import evaluate, report
from birthmark.commands.train import train
from birthmark.data.ingest.run import ingest
from birthmark.predictor.models.estimators.estimator import from_config
from birthmark.predictor.predicates import own_predicate
from birthmark.training.config import ConfigError, Engine, Sections, Settings, read_config
from birthmark.training.engine import current, opened
from birthmark.training.evaluate.evaluation import evaluate as figures_of
from birthmark.training.learn.train import Lives
from birthmark.training.learn.train import train as train_on
from birthmark.training.nightly.run import nightly
from birthmark.training.registry.stored import load
from birthmark.training.registry.versions import Registry

OWN = """
[[predicates]]
name = "kept"
expression = "size > 100 and lifespan > 30"

[[predicates]]
name = "dot"
subject = "name"
function = "own_rules:dotted"

[[estimators]]
kind = "shallow"
class = "sklearn.tree:DecisionTreeClassifier"
parameters = { max_depth = 2 }
"""

RULES = """
import pandas as pd

def dotted(lives):
    names = lives.select(["name"]).to_pandas()["name"]
    return pd.Series([b"." in name for name in names], dtype="boolean")
"""

NIGHT = """
[traces]
files = ["*.txt"]
settle_seconds = 0
[datasets]
directory = "datasets"
[registry]
directory = "registry"
[training]
trees = 4
rounds = 2
[engine]
workers = 1
"""


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    app = typer.Typer()
    for command in (train, evaluate, report):
        app.command()(command)
    app.add_typer(models.app, name="models")
    return app


def run(app: typer.Typer, *arguments: object, code: int = 0) -> str:
    words = [str(argument) for argument in arguments]
    result = CliRunner().invoke(app, words, catch_exceptions=False, env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, traces: list[str]) -> Any:
    """Return a folder with two days, a file of one's own, and a module on the path."""
    folder = tmp_path_factory.mktemp("own")
    for number in (0, 1):
        (folder / f"day{number}.txt").write_text(traces[number])
        ingest([folder / f"day{number}.txt"], folder / f"day{number}")
    (folder / "own.toml").write_text(OWN)
    (folder / "own_rules.py").write_text(RULES)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        # Processes that an earlier test of this program left behind do not know the path.
        get_reusable_executor().shutdown(wait=True)
        yield folder


@pytest.fixture(scope="module")
def registry(app: typer.Typer, folder: Path) -> Path:
    few = ("--trees", 4, "--rounds", 2)
    place = ("--registry", folder / "registry", "--config", folder / "own.toml")
    run(app, "train", folder / "day0", *place, *few)
    return folder / "registry"


@pytest.mark.deep
def test_train_learns_them_and_the_version_remembers_them(registry: Path) -> None:
    stored = load(Registry(registry))
    assert {"kept", "name:dot", "lock", "name:lock"} <= set(stored.model.predicates)
    assert list(stored.model.estimators) == ["shallow"]
    assert "shallow" not in stored.model.kinds
    assert "shallow" in load(Registry(registry), estimators=True).model.kinds
    figures = {(row["predicate"], row["model"]) for row in stored.manifest["figures"]}
    assert {("kept", "shallow"), ("dot", "forest")} <= figures
    assert "shallow" in stored.manifest["held_out_errors"]
    assert stored.manifest["trained_on"]["labels"]["kept"]["true"] == 40


@pytest.mark.deep
def test_evaluate_tests_them_beside_the_built_in_ones(
    app: typer.Typer, registry: Path, folder: Path
) -> None:
    asked = ("evaluate", folder / "day1", "--registry", registry)
    text = run(app, *asked)
    assert re.search(r"^kept +100\.00%", text, re.M)
    assert "Not tested without --estimators: shallow\n" in text
    text = run(app, *asked, "--estimators")
    assert re.search(r"kept +shallow +100\.00%", text)
    assert re.search(r"dot +shallow +", text)
    assert "Not tested" not in text
    reported = json.loads(run(app, *asked, "--estimators", "--json", "-"))
    assert {"shallow", "best"} <= {row["model"] for row in reported["figures"]}


@pytest.mark.deep
def test_the_program_itself_takes_them(registry: Path, folder: Path) -> None:
    """A process that otherwise runs without pandas."""
    asked = ["evaluate", folder / "day1", "--registry", registry, "--estimators"]
    command = [sys.executable, "-m", "birthmark", *map(str, asked)]
    place = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        command, capture_output=True, check=False, text=True, env=os.environ | {"PYTHONPATH": place}
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"dot +shallow +", done.stdout)


@pytest.mark.deep
def test_the_report_shows_them(
    app: typer.Typer, registry: Path, folder: Path, tmp_path: Path
) -> None:
    asked = ("report", folder / "day1", "--registry", registry, "--out", tmp_path / "report.html")
    assert run(app, *asked) == "Not tested without --estimators: shallow\n"
    page = (tmp_path / "report.html").read_text()
    assert "kept" in page
    assert "shallow" not in page
    run(app, *asked, "--estimators")
    page = (tmp_path / "report.html").read_text()
    assert re.search(r"<th[^>]*>shallow</th>", page)


@pytest.mark.deep
def test_a_version_with_them_comes_out_the_same_when_it_is_trained_again(
    app: typer.Typer, registry: Path, folder: Path
) -> None:
    text = run(app, "models", "verify", "--registry", registry, "--datasets", folder)
    assert "differs" not in text


@pytest.mark.deep
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[[predicate]]\nname = "x"\n', "predicate: there is no such setting"),
        ('[[predicates]]\nname = "x"\nexpression = "wirtes > 1"\n', "did you mean 'writes'"),
        ('[[predicates]]\nname = "x"\nfunction = "nowhere:f"\n', "predicates: .*'nowhere:f'"),
        (
            '[[estimators]]\nkind = "x"\nclass = "nowhere:F"\n',
            "estimators: estimator 'x': .*install",
        ),
        (2 * '[[predicates]]\nname = "x"\nexpression = "size > 1"\n', "two predicates"),
        (2 * '[[estimators]]\nkind = "x"\nclass = "sklearn.dummy:DummyClassifier"\n', "two estim"),
        ("[[predicates\n", "expected a TOML file"),
    ],
)
def test_a_wrong_file_is_refused_before_anything_is_learned(
    app: typer.Typer, folder: Path, tmp_path: Path, text: str, reason: str
) -> None:
    own = tmp_path / "own.toml"
    own.write_text(text)
    place = ("--registry", tmp_path / "registry", "--config", own)
    reported = run(app, "train", folder / "day0", *place, code=78)
    assert re.search(f"birthmark: {own}: .*{reason}", reported)
    assert not (tmp_path / "registry").exists()
    with pytest.raises(ConfigError, match=reason):
        read_config(own, Sections)


def test_the_configuration_of_the_nightly_run_serves_as_such_a_file(folder: Path) -> None:
    path = folder / "birthmark.toml"
    path.write_text(NIGHT + OWN)
    own = read_config(path, Sections)
    assert own.model_dump() == read_config(path).model_dump()
    assert list(own.all_estimators()) == ["shallow"]
    assert {"kept", "name:dot"} <= set(own.all_predicates())


@pytest.mark.deep
def test_a_night_trains_and_tests_them(folder: Path, traces: list[str], tmp_path: Path) -> None:
    night = NIGHT.replace("workers = 1", "workers = 2")
    (tmp_path / "birthmark.toml").write_text(night + OWN)
    config = read_config(tmp_path / "birthmark.toml")
    for day in (0, 1):
        (tmp_path / f"day{day}.txt").write_text(traces[day])
        done = nightly(config)
    assert done.decision is not None
    (name,) = done.tested
    reported = json.loads((tmp_path / "datasets" / name / "evaluation.json").read_text())
    figures = {(row["predicate"], row["model"]) for row in reported["figures"]}
    assert {("kept", "best"), ("kept", "shallow"), ("dot", "shallow")} <= figures


@pytest.mark.deep
def test_other_processes_train_and_test_them_the_same(
    days: list[tuple[pa.Table, pa.Table]], tmp_path: Path
) -> None:
    own = from_config({"kind": "shallow", "class": "sklearn.tree:DecisionTreeClassifier"})
    asked = [own_predicate("kept", "writes > 2")]
    lives, settings = Lives(("monday",), *days[0]), Settings(trees=4, rounds=2)
    here, _ = train_on(lives, settings, asked, {"shallow": own})
    figures = figures_of(here, *days[1])
    with opened(Engine(workers=2), tmp_path):
        assert current().run([delayed(len)("ab")]) == [2]
        there, _ = train_on(lives, settings, asked, {"shallow": own})
        assert figures_of(there, *days[1]).equals(figures)
    assert there.kinds == here.kinds
    creates = here.creates("file", days[0][0])
    for kind in here.kinds:
        scores = (each.scores(creates, kind)["kept"].tolist() for each in (here, there))
        assert next(scores) == next(scores)
