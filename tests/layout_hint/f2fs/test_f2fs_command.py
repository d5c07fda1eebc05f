"""``birthmark layout f2fs``: what it prints, writes and takes back.

Tests also layout_hint/commands/f2fs.py.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.layout_hint.f2fs.extensions import Lists
from birthmark.predictor import TrainedModel
from birthmark.predictor.predicates.config import BUILT_IN
from birthmark.training.registry.versions import Registry
from tests.builders.lives import files_of, life, names_of
from tests.layout_hint.f2fs.kernel import OWN, mount

DATA = {"max_size": 9000, "writes": 1, "bytes_written": 9000}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a registry whose model saw drafts die young and pages stay."""
    place = tmp_path_factory.mktemp("registry")
    rows = [
        *(life(b"%d.draft" % n, 60.0 * n, 2.0, **DATA) for n in range(600)),
        *(life(b"%d.page" % n, 60.0 * n, **DATA) for n in range(600)),
    ]
    model = TrainedModel(trees=1, rounds=0)
    predicates = [BUILT_IN[key] for key in ("lock", "lifespan<=30", "HotWrite")]
    model.train(files_of(*rows), names_of(*rows), predicates)
    about = {"serve": "best", "point": "bounded"}
    Registry(place).publish(model.save, about)
    return place


@pytest.fixture
def lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return mount(tmp_path / "kernel", "sda1", monkeypatch)


def run(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, ["layout", "f2fs", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result.output if result.exception is None or code == 2 else str(result.exception)


def places(folder: Path) -> list[object]:
    return ["--kernel", folder / "kernel", "--before", folder / "before"]


def test_lists_suffixes_with_their_evidence(registry: Path) -> None:
    outcome = run("lists", "--registry", registry)
    rows = [line.split() for line in outcome.splitlines()]
    assert ["page", "cold", "600", "600", "100.0%", "99.7%"] in rows
    answer = "cold: 600 of 1,200 births; 0 of them are written over: at most 0.25% of all"
    assert answer in outcome
    assert "hot" not in outcome
    assert run("lists", "--registry", registry, "--mkfs") == "-e page\n"


def test_shows_changes_without_making_them(registry: Path, lists: Path, tmp_path: Path) -> None:
    outcome = run("lists", "sda1", "--registry", registry, *places(tmp_path))
    assert "would write  [c]!mp, [c]!jpg, [c]!so, [h]!db, [c]page" in outcome
    assert lists.read_text() == OWN
    assert not (tmp_path / "before").exists()


def test_where_small_pieces_are_not_hot_there_is_a_hot_list_too(
    registry: Path, lists: Path, tmp_path: Path
) -> None:
    small = lists.with_name("min_hot_blocks")
    small.write_text("16\n")
    learned = ["lists", "sda1", "--registry", registry, *places(tmp_path)]
    assert "[h]draft" not in run(*learned)
    small.write_text("0\n")
    outcome = run(*learned)
    assert ["draft", "hot", "600", "600", "100.0%", "99.7%"] in map(str.split, outcome.splitlines())
    assert "hot: 600 of 1,200 births; 0 of them live longer: at most 0.25%" in outcome
    assert "[c]page, [h]draft" in outcome
    small.write_text("few\n")
    assert "min_hot_blocks: expected a number, found 'few'" in run(*learned, code=1)


def test_lists_are_written_refreshed_and_taken_back(
    registry: Path, lists: Path, tmp_path: Path
) -> None:
    learned = ["lists", "sda1", "--write", "--registry", registry, *places(tmp_path)]
    found: dict[str, Any] = json.loads(run(*learned, "--json"))
    assert found["written"]
    assert found["changes"][-2:] == ["[h]!db", "[c]page"]
    assert lists.read_text() == str(Lists(("page",), ()))
    assert "written  nothing: the lists are up to date" in run(*learned)
    assert "[h]db" in run("restore", "sda1", *places(tmp_path))
    assert lists.read_text() == OWN
    refused = run("restore", "sda1", *places(tmp_path), "--json", code=1)
    assert refused.endswith(
        "before/sda1: expected the original lists, found none: nothing was changed"
    )


def test_a_change_without_a_device_is_refused(registry: Path) -> None:
    assert "expected a DEVICE with it" in run("lists", "--write", "--registry", registry, code=2)


def test_a_registry_without_a_model_is_refused(tmp_path: Path) -> None:
    assert "expected a published model, found none" in run("lists", "--registry", tmp_path, code=1)
