"""Tests also training/nightly/rehearsal.py, training/reports/evaluation_run.py,
training/reports/terminal.py.
"""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from birthmark.commands.evaluate import evaluate, report
from birthmark.commands.nightly import nightly
from birthmark.commands.train import train
from birthmark.data.ingest.run import ingest
from birthmark.training.evaluate.evaluation import EVALUATION
from birthmark.training.registry.versions import Registry


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    app = typer.Typer()
    for command in (train, evaluate, report, nightly):
        app.command()(command)
    return app


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, traces: list[str]) -> Path:
    """Return a folder with the traces and datasets of two days, and a model of the first."""
    folder = tmp_path_factory.mktemp("train")
    for number in (0, 1):
        trace = folder / f"day{number}.txt"
        trace.write_text(traces[number])
        ingest([trace], folder / f"day{number}")
    return folder


@pytest.fixture(scope="module")
def registry(app: typer.Typer, folder: Path) -> Path:
    result = run(app, "train", folder / "day0", "--registry", folder / "registry", "--json")
    assert json.loads(result)["version"] == Registry(folder / "registry").current()
    return folder / "registry"


def run(app: typer.Typer, *arguments: object) -> str:
    """Return what a command prints, which has nothing to say on standard error."""
    result = CliRunner().invoke(
        app, [str(argument) for argument in arguments], catch_exceptions=False
    )
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


@pytest.mark.deep
def test_train_publishes_a_model_and_says_what_it_learned_from(
    app: typer.Typer, folder: Path, tmp_path: Path
) -> None:
    text = run(app, "train", folder / "day0", folder / "day1", "--registry", tmp_path)
    version = Registry(tmp_path).current()
    assert f"version  {version}\n" in text
    assert "files  120\n" in text


@pytest.mark.deep
def test_train_takes_its_parameters_from_its_options(
    app: typer.Typer, folder: Path, tmp_path: Path
) -> None:
    options = "--minfrac 0.9 --mincount 3 --no-prefix --purity 0.95 --serve able"
    options += " --calibration 0.3 --bound 0.02 --confidence 0.9 --point accurate"
    options += " --trees 8 --rounds 5 --seed 3"
    run(app, "train", folder / "day0", "--registry", tmp_path, *options.split())
    registry = Registry(tmp_path)
    manifest = registry.manifest(str(registry.current()))
    expected = {"minfrac": 0.9, "mincount": 3, "prefix": False, "purity": 0.95}
    expected |= {
        "calibration": 0.3,
        "bound": 0.02,
        "confidence": 0.9,
        "false_negative_bound": 0.01,
        "trees": 8,
    }
    expected |= {"rounds": 5, "seed": 3, "behind": 0.02}
    assert manifest["parameters"] == expected
    assert (manifest["serve"], manifest["point"]) == ("able", "accurate")


@pytest.mark.deep
def test_evaluate_leads_with_the_verdict_and_shows_what_answers(
    app: typer.Typer, folder: Path, registry: Path
) -> None:
    text = run(app, "evaluate", folder / "day1", "--registry", registry)
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    version = str(Registry(registry).current())
    head, _, right, *_ = text.splitlines()
    assert head.startswith(f"{version} (best, bounded) on day1: 60 files, ")
    assert right.startswith("Accuracy    ")
    verdict = text.partition("\n\n")[2].partition("\n\n")[0]
    labels = [line.partition("  ")[0] for line in verdict.splitlines() if line[0] != " "]
    assert labels == ["Accuracy", "Compared", "What to do"]
    assert "There is no earlier version." in " ".join(verdict.split())
    lines = [line.split() for line in text.splitlines()]
    assert ["lock", "100.00%", "66.67%"] in [line[:3] for line in lines]
    assert any(line.startswith("Bounds  best: ") for line in text.splitlines())
    assert "able" not in text


@pytest.mark.deep
def test_evaluate_prints_the_columns_of_table_6_5_for_each_predicate_and_model(
    app: typer.Typer, folder: Path, registry: Path
) -> None:
    text = run(app, "evaluate", folder / "day1", "--registry", registry, "--all-models")
    assert max(map(len, text.splitlines())) <= 80
    lines = [line.split() for line in text.splitlines()]
    headings = ["Predicate", "Model", "Correct", "Occurs", "Guess", "Δ-error", "FalsePos", "n"]
    assert headings in lines
    percents = ["100.00%", "33.33%", "66.67%", "100.00%", "0.00%"]
    assert ["lock", "name", *percents, "60"] in lines
    assert ["lock", "able", *percents, "60"] in lines


@pytest.mark.deep
def test_evaluate_warns_of_files_that_the_model_may_have_learned_from(
    app: typer.Typer, folder: Path, registry: Path
) -> None:
    text = run(app, "evaluate", folder / "day0", "--registry", registry)
    output = " ".join(text.split())
    assert "Test it on a later day: 60 files may be training data." in output


@pytest.mark.deep
def test_evaluate_writes_the_same_as_json_and_parquet(
    app: typer.Typer, folder: Path, registry: Path, tmp_path: Path
) -> None:
    parquet, file = tmp_path / "figures.parquet", tmp_path / "figures.json"
    arguments = ("evaluate", folder / "day1", "--registry", registry)
    printed = run(app, *arguments, "--json", "-", "--parquet", parquet)
    result = json.loads(printed)
    assert result["version"] == Registry(registry).current()
    table = pq.read_table(parquet)
    assert table.schema.equals(EVALUATION)
    assert table.to_pylist() == result["figures"]
    assert "lock" in run(app, *arguments, "--json", file)
    assert json.loads(file.read_text()) == result


@pytest.mark.deep
def test_evaluate_tests_the_version_of_the_option(
    app: typer.Typer, folder: Path, tmp_path: Path
) -> None:
    for minfrac in ("0.8", "1"):
        run(app, "train", folder / "day0", "--registry", tmp_path, "--minfrac", minfrac)
    first = Registry(tmp_path).versions()[0]
    text = run(
        app, "evaluate", folder / "day1", "--registry", tmp_path, "--version", first, "--json", "-"
    )
    assert json.loads(text)["version"] == first


@pytest.mark.deep
def test_report_writes_the_page(
    app: typer.Typer, folder: Path, registry: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    run(app, "report", folder / "day1", "--registry", registry, "--out", page)
    html = page.read_text()
    assert str(Registry(registry).current()) in html
    assert "*.lock" in html


@pytest.mark.deep
def test_nightly_prints_what_it_did(app: typer.Typer, folder: Path, tmp_path: Path) -> None:
    config = tmp_path / "birthmark.toml"
    config.write_text(
        f'[traces]\nfiles = ["{folder}/*.txt"]\nsettle_seconds = 0\n'
        '[datasets]\ndirectory = "datasets"\n[registry]\ndirectory = "registry"\n'
    )
    night = json.loads(run(app, "nightly", "--config", config, "--json"))
    assert night["traces"] == 2
    assert night["current"] == Registry(tmp_path / "registry").current()
    assert night["decision"]["publish"] is True
    assert "traces  0\n" in run(app, "nightly", "--config", config)


def test_a_dataset_without_creations_is_no_test(
    app: typer.Typer, registry: Path, tmp_path: Path
) -> None:
    trace = tmp_path / "quiet.txt"
    trace.write_text("1.0 31.03f7 30.0801 U C3 1 1 getattr fh 01 con = XXX len = XXX\n")
    ingest([trace], tmp_path / "quiet")
    for command in (("evaluate",), ("report", "--out", tmp_path / "report.html")):
        with pytest.raises(
            ValueError, match="quiet: expected files with a visible creation, found"
        ):
            run(app, *command, tmp_path / "quiet", "--registry", registry)


def test_a_dataset_that_is_named_twice_is_not_learned_from_twice(
    app: typer.Typer, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="name it once"):
        run(app, "train", folder / "day0", folder / "day0", "--registry", tmp_path)


def test_a_dry_run_of_a_night_says_what_it_would_do_and_changes_nothing(
    app: typer.Typer, folder: Path, tmp_path: Path
) -> None:
    config = tmp_path / "birthmark.toml"
    config.write_text(
        f"[traces]\nfiles = ['{folder}/day0.txt', '{tmp_path}/gone/*']\nsettle_seconds = 0\n"
        f"[datasets]\ndirectory = '{tmp_path}/datasets'\nkeep_days = 7\n"
        f"[registry]\ndirectory = '{tmp_path}/registry'\nkeep_versions = 1\n"
    )
    found = json.loads(run(app, "nightly", "--config", config, "--dry-run", "--json"))
    assert found["traces"] == [f"{folder}/day0.txt"]
    assert found["refused"].keys() == {f"{tmp_path}/gone"}
    assert (found["waiting"], found["removed"], found["pruned"]) == ([], [], [])
    assert f"traces  {folder}/day0.txt\n" in run(app, "nightly", "--config", config, "--dry-run")
    assert [path.name for path in tmp_path.iterdir()] == ["birthmark.toml"]


def test_nightly_tells_of_traces_without_nfs(app: typer.Typer, tmp_path: Path) -> None:
    trace = tmp_path / "empty.pcap"
    trace.write_bytes(bytes.fromhex("d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000"))
    config = tmp_path / "birthmark.toml"
    config.write_text(
        '[traces]\nfiles = ["*.pcap"]\nsettle_seconds = 0\n'
        '[datasets]\ndirectory = "datasets"\n[registry]\ndirectory = "registry"\n'
    )
    night = json.loads(run(app, "nightly", "--config", config, "--json"))
    assert night["warnings"][0].startswith(f"{trace}: holds no NFS: 0 packets")


def test_an_impossible_action_is_an_error_with_a_reason(
    app: typer.Typer, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="expected a published version, found none"):
        run(app, "evaluate", folder / "day1", "--registry", tmp_path)
    with pytest.raises(OSError, match="nowhere: no dataset"):
        run(app, "train", tmp_path / "nowhere", "--registry", tmp_path)
