"""Lives that loss may have touched, left out and counted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.common.plurals import counted
from birthmark.data.ingest.run import ingest
from birthmark.training.learn.loss import Touched, without_loss

Make = Callable[..., Any]


def test_only_births_that_are_known_to_be_touched_are_counted_and_left_out(
    life: Make, files_of: Make, names_of: Make
) -> None:
    rows = [
        life(b"touched", loss_nearby=True),
        life(b"untouched", loss_nearby=False),
        life(b"unknown", loss_nearby=None),
        life(b"old", born=None, loss_nearby=True),
    ]
    files, names = files_of(*rows), names_of(*rows[:3])
    same_files, same_names, counts = without_loss(files, names, leave_out=False)
    assert (same_files, same_names) == (files, names)
    assert counts == Touched(1, 1, left_out=False)
    left_files, left_names, counts = without_loss(files, names, leave_out=True)
    assert left_files["name"].to_pylist() == [b"untouched", b"unknown"]
    assert left_names["name"].to_pylist() == [b"untouched", b"unknown"]
    assert counts == Touched(1, 1, left_out=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, traces: list[str]) -> Path:
    """Return two days; the second lost the reply to the first write."""
    folder = tmp_path_factory.mktemp("loss")
    lines = traces[1].splitlines(keepends=True)
    asked = next(line for line in lines if " C3 " in line and " write " in line)
    xid = f" {asked.split()[5]} "
    lines = [line for line in lines if " R3 " not in line or xid not in line]
    for number, text in enumerate([traces[0], "".join(lines)]):
        trace = folder / f"day{number}.txt"
        trace.write_text(text)
        ingest([trace], folder / f"day{number}")
    return folder


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, [str(each) for each in arguments], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def figures(folder: Path, *options: str) -> dict[str, Any]:
    registry = folder / "registry"
    if not registry.exists():
        run("train", folder / "day0", "--registry", registry)
    text = run("evaluate", folder / "day1", "--registry", registry, "--json", "-", *options)
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.deep
def test_evaluate_leaves_touched_lives_out_and_says_how_many(folder: Path) -> None:
    whole, without = figures(folder), figures(folder, "--without-loss")
    touched = whole["loss"]["files"]
    assert touched > 0
    assert whole["loss"]["left_out"] is False
    assert without["loss"] == {**whole["loss"], "left_out": True}
    tested = [
        found["figures"][0]["n"] + found["figures"][0]["n_unknown"] for found in (whole, without)
    ]
    assert tested[0] - tested[1] == touched
    printed = run("evaluate", folder / "day1", "--registry", folder / "registry", "--without-loss")
    names = whole["loss"]["names"]
    report = f"{counted(touched, 'files')} and {counted(names, 'names')}"
    assert f"It may have affected {report}, left out." in printed


@pytest.mark.deep
def test_the_report_says_how_many_lives_were_left_out(folder: Path, tmp_path: Path) -> None:
    figures(folder)
    page = tmp_path / "page.html"
    arguments = [
        "evaluate",
        "report",
        folder / "day1",
        "--registry",
        folder / "registry",
        "--out",
        page,
    ]
    run(*arguments, "--without-loss")
    assert re.search(r"names?, left out", page.read_text())
    run(*arguments)
    assert re.search(r"names?, not left out", page.read_text())


@pytest.mark.deep
def test_training_leaves_touched_lives_out_and_the_manifest_says_so(
    folder: Path, tmp_path: Path
) -> None:
    options = [folder / "day1", "--registry"]
    whole = json.loads(run("train", *options, tmp_path / "a", "--json"))
    without = json.loads(run("train", *options, tmp_path / "b", "--json", "--without-loss"))
    (path,) = (tmp_path / "b").glob("versions/*/manifest.json")
    loss = json.loads(path.read_text())["trained_on"]["loss"]
    assert loss["left_out"] is True
    assert whole["files"] - without["files"] == loss["files"] > 0
    assert without["left_out"] == loss["files"] + loss["names"]


@pytest.mark.deep
def test_the_nightly_run_leaves_touched_lives_out_where_its_configuration_says_so(
    folder: Path, tmp_path: Path
) -> None:
    config = tmp_path / "birthmark.toml"
    config.write_text(
        f'[traces]\nfiles = ["{folder}/day1.txt"]\nsettle_seconds = 0\n'
        '[datasets]\ndirectory = "datasets"\n[registry]\ndirectory = "registry"\n'
        "[training]\nwithout_loss = true\n"
    )
    run("nightly", "--config", config)
    (path,) = (tmp_path / "registry").glob("versions/*/manifest.json")
    loss = json.loads(path.read_text())["trained_on"]["loss"]
    assert loss["left_out"] is True
    assert loss["files"] > 0
