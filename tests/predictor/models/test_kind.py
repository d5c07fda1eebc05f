"""A kind is added by a folder and a word in a list: every surface follows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ADDED = Path(__file__).parent / "added"

WITH_TOY = f"""
import sys
from birthmark.predictor import models
models.__path__.append({str(ADDED)!r})
models.FOLDERS += ("toy",)
"""


def run(program: str, *arguments: object) -> str:
    """Return what a program prints in whose installation there is the kind ``toy``."""
    command = [sys.executable, "-c", WITH_TOY + program, *map(str, arguments)]
    wide = os.environ | {"COLUMNS": "200"}  # no word is broken
    done = subprocess.run(command, capture_output=True, check=False, text=True, env=wide)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a registry with a model of the kind, whose service answers by it."""
    folder = tmp_path_factory.mktemp("added")
    program = """
from pathlib import Path
from birthmark.data.datasets import read_files, read_names
from birthmark.data.ingest.run import ingest
from birthmark.data.samples import DAYS
from birthmark.predictor import FILE_PREDICATES, TrainedModel
from birthmark.training.config import Settings
from birthmark.training.registry.versions import Registry

folder = Path(sys.argv[1])
ingest([DAYS[0]], folder / "day")
model = TrainedModel(calibration=0)
predicates = [FILE_PREDICATES[name] for name in ("lock", "lifespan<=5")]
model.train(read_files(folder / "day"), read_names(folder / "day"), predicates, kinds=["toy"])
manifest = {"serve": Settings(serve="toy").serve, "point": "accurate", "figures": []}
manifest["trained_on"] = {"datasets": ["day"], "files": 1}
Registry(folder / "registry").publish(model.save, manifest)
"""
    run(program, folder)
    return folder / "registry"


def test_it_is_published_with_its_image(registry: Path) -> None:
    names = {path.name for path in registry.rglob("*")}
    assert {"models.zip", "model.image"} <= names


def test_the_command_line_takes_its_word_and_tells_its_evidence(registry: Path) -> None:
    program = "from birthmark.cli import main; sys.argv[0] = 'birthmark'; main()"
    output = run(program, "predict", "inbox.lock", "--model", "toy", "--registry", registry)
    assert "% of all files" in output
    assert ", toy, accurate" in output
    assert "toy" in run(program, "train", "--help")
    assert "toy" in run(program, "serve", "--help")


def test_the_service_answers_by_it_as_it_describes_itself(registry: Path) -> None:
    program = """
import json
from fastapi.testclient import TestClient
from birthmark.serving.app import create_app
from birthmark.serving.settings import Settings

with TestClient(create_app(Settings(registry=sys.argv[1])), base_url="http://localhost") as client:
    answer = client.post("/v1/explanations", json={"name": "inbox.lock"}).json()
    page = client.get("/?name=inbox.lock").text
    schemas = client.app.openapi()["components"]["schemas"]
assert answer["kind"] == "toy"
assert list(answer["prediction"]["predicates"]["lock"]["evidence"]) == ["share_of_all"]
assert "Toy model" in page and "% of all files" in page
assert schemas["ToyEvidence"]["description"] == "The share of yes in training."
assert "toy" in json.dumps(schemas["ModelResponse"]["properties"]["kind"])
"""
    run(program, registry)


def test_reports_call_it_by_its_title() -> None:
    assert "Toy model" in run(
        "from birthmark.training.reports.labels import TITLES; print(TITLES['toy'])"
    )
