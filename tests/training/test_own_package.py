"""A package of a user's, installed: its entry points are taken by every command that judges."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from birthmark.data.datasets.tables import read_files
from birthmark.data.ingest.run import ingest
from birthmark.features.creates import from_files
from birthmark.predictor import births
from birthmark.serving.log.prediction_log import PredictionLog
from birthmark.serving.models.loaded import load_model
from birthmark.training.registry.versions import Registry
from tests.serving.logged import served

pytestmark = pytest.mark.deep

PACKAGE = {
    "pyproject.toml": """
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "site-questions"
version = "1.0"
[project.entry-points."birthmark.predicates"]
often = "site_questions:often"
[project.entry-points."birthmark.estimators"]
shallow = "site_questions:shallow"
""",
    "site_questions.py": '''
import pyarrow.compute as pc
from sklearn.tree import DecisionTreeClassifier

def often(lives):
    """Written more than twice."""
    return pc.greater(lives["writes"], 2)

def shallow(max_depth):
    return DecisionTreeClassifier(max_depth=max_depth)
''',
}

OWN = """
[[predicates]]
name = "often written"
function = "often"
[[estimators]]
kind = "tree"
class = "shallow"
parameters = { max_depth = 2 }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, traces: list[str]) -> Path:
    """Return a folder with two days, a file that names entry points, and their package."""
    folder = tmp_path_factory.mktemp("package")
    source = folder / "source"
    source.mkdir()
    for name, text in PACKAGE.items():
        (source / name).write_text(text)
    here = ["--no-index", "--no-deps", "--no-build-isolation", "--target", folder / "installed"]
    install = [sys.executable, "-m", "pip", "install", "--quiet", *here, source]
    subprocess.run([*map(str, install)], check=True)
    for number in (0, 1):
        (folder / f"day{number}.txt").write_text(traces[number])
        ingest([folder / f"day{number}.txt"], folder / f"day{number}")
    (folder / "own.toml").write_text(OWN)
    train = ("train", "day0", "--config", "own.toml", "--trees", "4", "--rounds", "2", "--no-test")
    run(folder, *train, "--registry", "registry")
    return folder


def run(folder: Path, *words: str, installed: bool = True) -> str:
    """Run the program in a folder, with the package in its environment, or without."""
    places = [str(folder / "installed")] if installed else []
    place = os.pathsep.join(filter(None, (*places, os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "birthmark", *words],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ | {"PYTHONPATH": place, "COLUMNS": "200"},
    )
    assert done.returncode == (0 if installed else 1), done.stderr
    return done.stdout + done.stderr


def test_it_is_evaluated(folder: Path) -> None:
    text = run(folder, "evaluate", "day1", "--registry", "registry", "--estimators")
    assert re.search(r"often written +tree +100\.00%", text)
    assert re.search(r"often written +best +", text)


def test_it_is_reported(folder: Path) -> None:
    page = ("--estimators", "--out", "page.html")
    run(folder, "evaluate", "report", "day1", "--registry", "registry", *page)
    text = (folder / "page.html").read_text()
    assert "often written" in text
    assert re.search(r"<th[^>]*>tree</th>", text)


def test_it_is_audited(folder: Path) -> None:
    given = served(
        load_model(Registry(folder / "registry")), from_files(births(read_files(folder / "day1")))
    )
    counted: Counter[str] = Counter()
    log = PredictionLog(folder / "log", tell=lambda what, rows: counted.update({what: rows}))
    log.offer(lambda _: given, None, len(given.creates), given.creates.nbytes)
    log.start()
    log.close()
    assert counted == {"written": len(given.creates)}
    audit = ("audit", "day1", "--registry", "registry", "--log", "log", "--json")
    found = json.loads(run(folder, *audit))
    (row,) = (row for row in found["figures"] if row["predicate"] == "often written")
    assert row["n"] == len(given.creates)


def test_windows_are_compared_for_it(folder: Path) -> None:
    asked = ("evaluate", "windows", "day0", "--test", "day1", "--config", "own.toml", "--json")
    rows = json.loads(run(folder, *asked))
    assert ("often written", "tree") in {(row["predicate"], row["model"]) for row in rows}


@pytest.mark.parametrize(
    "words", [("evaluate", "day1"), ("evaluate", "report", "day1", "--out", "no.html")]
)
def test_without_the_package_the_error_names_it(folder: Path, words: tuple[str, ...]) -> None:
    report = run(folder, *words, "--registry", "registry", installed=False)
    assert "'often': expected package.module:name, or an entry point of the group" in report
