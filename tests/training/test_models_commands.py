"""The life of models on the command line, and trainings in other processes that must be equal.

Tests also training/nightly/reproduce.py.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.ingest.run import ingest
from birthmark.training.registry.versions import Registry, RegistryError

pytestmark = pytest.mark.deep

SMALL = ("--trees", "4", "--rounds", "2")
ALONE = {"PYTHONHASHSEED": "0", "LOKY_MAX_CPU_COUNT": "1"}
ALONE |= {"OMP_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"}
MANY = {"PYTHONHASHSEED": "4711", "LOKY_MAX_CPU_COUNT": "5"}
MANY |= {"OMP_NUM_THREADS": "4", "RAYON_NUM_THREADS": "3"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, traces: list[str]) -> Path:
    """Return a folder with the datasets of two days, and a model of each, trained elsewhere."""
    folder = tmp_path_factory.mktemp("models")
    for number in (0, 1):
        (folder / f"day{number}.txt").write_text(traces[number])
        ingest([folder / f"day{number}.txt"], folder / "days" / f"day{number}")
    train(folder, folder / "registry", "day0", ALONE)
    train(folder, folder / "registry", "day1", ALONE)
    return folder


@pytest.fixture
def registry(folder: Path, tmp_path: Path) -> Path:
    """Return a registry with two versions; the second is published."""
    return Path(shutil.copytree(folder / "registry", tmp_path / "registry"))


def train(folder: Path, registry: Path, day: str, environment: dict[str, str]) -> None:
    """Train in a process of its own."""
    command = [sys.executable, "-m", "birthmark", "train", folder / "days" / day, *SMALL]
    subprocess.run(
        [*command, "--registry", registry],
        env=os.environ | environment,
        check=True,
        stdout=subprocess.DEVNULL,
    )


def models(registry: Path, *arguments: str | Path, code: int = 0) -> str:
    """Return what a command prints, which has nothing to say on standard error."""
    result = CliRunner().invoke(
        app,
        ["models", *map(str, arguments), "--registry", str(registry)],
        catch_exceptions=False,
    )
    assert (result.exit_code, result.stderr) == (code, ""), result.output
    return result.stdout


def result_of(registry: Path, *arguments: str | Path, code: int = 0) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(models(registry, *arguments, "--json", code=code))
    return result


def test_list_shows_what_is_stored_and_what_answers(registry: Path) -> None:
    first, second = Registry(registry).versions()
    found = result_of(registry, "list")
    assert (found["current"], found["previous"], found["pinned"]) == (second, first, None)
    assert [row["state"] for row in found["versions"]] == [["previous"], ["current"]]
    assert [row["files"] for row in found["versions"]] == [60, 60]
    lines = models(registry, "list").splitlines()
    assert any(first in line and "previous" in line for line in lines)


@pytest.mark.parametrize("command", ["list", "show", "verify", "rollback", "pin"])
def test_a_registry_that_is_not_there_is_named_with_one_that_is_like_it(
    registry: Path, command: str
) -> None:
    typed = registry.with_name("regsitry")
    with pytest.raises(RegistryError, match=r"regsitry: .*did you mean 'registry'.*"):
        models(typed, command)
    assert not typed.exists()


def test_list_shows_a_damaged_version_among_the_others(registry: Path) -> None:
    first = Registry(registry).versions()[0]
    (registry / "versions" / first / "manifest.json").write_text("{")
    row = result_of(registry, "list")["versions"][0]
    assert row["state"] == ["previous", "damaged"]
    assert "expected a manifest in JSON" in row["reason"]


def test_show_tells_the_heads_of_the_card_and_where_it_is(registry: Path) -> None:
    _, second = Registry(registry).versions()
    text = models(registry, "show")
    assert f"version  {second}\n" in text
    assert "datasets  day1\n" in text
    assert "tested  on 15 files of the newest quarter\n" in text
    card = next(line.split()[1] for line in text.splitlines() if line.strip().startswith("card "))
    assert "<h1>Model card</h1>" in Path(card).read_text()
    found = result_of(registry, "show", second)
    assert found["card"]["trained_on"]["datasets"] == ["day1"]
    assert found["manifest"]["version"] == second


def test_show_rounds_what_it_tells_as_the_list_does(registry: Path) -> None:
    stored = Registry(registry)
    decision = {"publish": True, "candidate": 89.64780981606134, "reason": "better"}
    about = {"decision": decision, "trained_on": {"files": 12_345}}
    version = stored.publish(lambda path: shutil.copy(__file__, path), about)
    text = models(registry, "show", version)
    assert "     correct  89.65%\n" in text
    assert "       files  12,345\n" in text
    assert "89.65%" in models(registry, "list")


def test_show_tells_how_often_each_kind_was_wrong_when_the_one_that_serves_was_chosen(
    registry: Path,
) -> None:
    stored = Registry(registry)
    about = {"serve": "forest", "point": "bounded"}
    about["held_out_errors"] = {"rules": 19.0512, "forest": 11.558, "name": 20.55}
    version = stored.publish(lambda path: shutil.copy(__file__, path), about)
    lines = models(registry, "show", version).splitlines()
    assert "      serves  forest, bounded" in lines
    assert "    held out  forest 11.56%, rules 19.05%, name 20.55% wrong" in lines
    assert result_of(registry, "show", version)["held_out_errors"] == about["held_out_errors"]
    without = stored.publish(lambda path: shutil.copy(__file__, path), {"serve": "rules"})
    assert "held" not in models(registry, "show", without)


def test_show_tells_which_kinds_answer_what(registry: Path) -> None:
    stored = Registry(registry)
    lock = {"directory": "forest", "caller": "forest", "name": "rules", "nothing": "rules"}
    kinds = {"lock": lock, "size>1M": dict.fromkeys(lock, "forest")}
    kinds["HotWrite"] = dict.fromkeys(lock, "forest") | {"nothing": "name"}
    about = {"serve": "best", "point": "bounded", "kinds": {"bounded": kinds}}
    version = stored.publish(lambda path: shutil.copy(__file__, path), about)
    text = " ".join(models(registry, "show", version).split())
    assert "answers forest; rules: lock (name, nothing); name: HotWrite (nothing)" in text
    assert result_of(registry, "show", version)["kinds"] == {"bounded": kinds}
    other = stored.publish(lambda path: shutil.copy(__file__, path), about | {"serve": "rules"})
    assert "answers" not in models(registry, "show", other)


def test_publish_and_rollback_change_what_answers(registry: Path) -> None:
    first, second = Registry(registry).versions()
    assert result_of(registry, "rollback") == {"before": second, "current": first}
    assert result_of(registry, "publish", second) == {"before": first, "current": second}
    assert result_of(registry, "rollback", first) == {"before": second, "current": first}
    assert Registry(registry).current() == first


def test_pin_keeps_a_version_until_it_is_off(registry: Path) -> None:
    first, second = Registry(registry).versions()
    assert result_of(registry, "pin", first) == {"pinned": first, "current": first}
    with pytest.raises(RegistryError, match="is pinned"):
        models(registry, "publish", second)
    assert result_of(registry, "list")["versions"][0]["state"] == ["current", "pinned"]
    assert "pinned  none\n" in models(registry, "pin", "--off")
    assert result_of(registry, "publish", second)["current"] == second


def test_pin_takes_a_version_or_off(registry: Path) -> None:
    version = Registry(registry).versions()[0]
    arguments = ["models", "pin", version, "--off", "--registry", str(registry)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert Registry(registry).pinned() is None


def test_prune_removes_old_versions(registry: Path) -> None:
    stored = Registry(registry)
    first, second = stored.versions()
    third = stored.publish(lambda path: shutil.copy(__file__, path), {})
    assert models(registry, "prune", "--keep", "1", "--dry-run") == f"would remove  {first}\n"
    found = result_of(registry, "prune", "--keep", "1")
    assert found == {"removed": [first], "dry_run": False, "versions": [second, third]}


def test_verify_finds_what_was_damaged(registry: Path) -> None:
    first, second = Registry(registry).versions()
    assert result_of(registry, "verify")["version"] == second
    assert result_of(registry, "verify", first)["intact"] >= 5
    (registry / "versions" / first / "card.html").write_text("better")
    with pytest.raises(
        RegistryError, match=r"html: expected [\d,]+ bytes with SHA-256 \w+, found 6 bytes"
    ):
        models(registry, "verify", first)


def test_trainings_in_processes_with_other_workers_and_hashes_are_equal_byte_by_byte(
    folder: Path, registry: Path
) -> None:
    command = [sys.executable, "-m", "birthmark", "models", "verify"]
    options = ["--registry", registry, "--datasets", folder / "days", "--json"]
    run = subprocess.run(
        [*command, *options], env=os.environ | MANY, check=False, capture_output=True
    )
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["differs"] is None
    assert found["not_compared"] == []
    assert len(found["same"]) == found["intact"]


def test_training_on_other_data_is_reported_with_the_first_part_that_differs(
    folder: Path, registry: Path, tmp_path: Path
) -> None:
    first = Registry(registry).versions()[0]
    shutil.copytree(folder / "days" / "day1", tmp_path / "days" / "day0")
    found = result_of(registry, "verify", first, "--datasets", tmp_path / "days", code=1)
    assert re.fullmatch(r"\S+ differs from byte \d+ on", found["differs"])
    assert found["differs"].split()[0] not in found["same"]


def test_a_card_that_tells_of_a_version_that_is_gone_is_not_compared(
    folder: Path, registry: Path
) -> None:
    first, second = Registry(registry).versions()
    shutil.rmtree(registry / "versions" / first)
    found = result_of(registry, "verify", second, "--datasets", folder / "days")
    assert found["differs"] is None
    assert found["not_compared"] == ["card.html", "card.json"]
