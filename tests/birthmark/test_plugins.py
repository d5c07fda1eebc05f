"""Commands and advice of installed packages, and packages that are broken or missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from birthmark import cli
from tests.builders.lives import MONDAY, day_of_lives
from tests.builders.traces import trace_of
from tests.docs.test_examples import ROOT, Session, blocks

ACME = """
from birthmark.plugins import Command

COMMAND = Command("Traces", "Do as Acme does.", "acme", renamed={"roadrunner": "acme"})
WITHOUT_MODULE = Command("Acme", "Do nothing.", "acme_is_not_there")
NOT_A_COMMAND = 3

def acme() -> None:
    "Do as Acme does."
    print("beep beep")

def advice(settings, dataset):
    return [f"{dataset.parent.name}: paint a tunnel in the {settings.registry.directory.name}."]
"""


def distribution(folder: Path, name: str, entries: str) -> None:
    """Install a package's metadata into a folder, with its entry points."""
    about = folder / f"{name}-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(entries)


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """Return a folder of packages, with a module that has commands of theirs."""
    folder = tmp_path / "packages"
    folder.mkdir()
    (folder / "acme.py").write_text(ACME)
    return folder


def birthmark(packages: Path, *words: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the program where packages are installed."""
    place = os.pathsep.join(filter(None, (str(packages), os.environ.get("PYTHONPATH"))))
    command = [sys.executable, "-m", "birthmark", *map(str, words)]
    environment = {**os.environ, "PYTHONPATH": place}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_a_package_adds_a_command(packages: Path) -> None:
    distribution(packages, "acme", "[birthmark.commands]\nacme = acme:COMMAND\n")
    listed = [line.strip() for line in birthmark(packages).stdout.splitlines()]
    assert listed[len(cli.GROUPS["Traces"]) + 2].split(maxsplit=1) == ["acme", "Do as Acme does."]
    run = birthmark(packages, "acme")
    assert (run.returncode, run.stdout, run.stderr) == (0, "beep beep\n", "")
    assert "Do as Acme does." in birthmark(packages, "acme", "--help").stdout
    old = birthmark(packages, "roadrunner")
    assert (old.returncode, old.stdout) == (0, "beep beep\n")
    assert old.stderr == "birthmark: `birthmark roadrunner` is now `birthmark acme`\n"


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ("gone = acme_is_not_there:COMMAND", "ModuleNotFoundError: No module named"),
        ("gone = acme:GONE", "AttributeError: module 'acme' has no attribute 'GONE'"),
        ("gone = acme:NOT_A_COMMAND", "TypeError: expected a Command, found 3"),
        ("train = acme:COMMAND", "ValueError: the name is taken"),
    ],
)
def test_a_broken_command_is_reported_and_others_run(
    packages: Path, entry: str, reason: str
) -> None:
    distribution(packages, "acme", f"[birthmark.commands]\nacme = acme:COMMAND\n{entry}\n")
    shown = birthmark(packages, "--help")
    assert shown.returncode == 0
    assert f"package acme: birthmark.commands, {entry}: {reason}" in shown.stderr
    assert " train " in shown.stdout
    for name in ("acme", "train"):
        help = birthmark(packages, name, "--help")
        assert (help.returncode, help.stderr) == (0, "")
    if entry.startswith("gone"):
        run = birthmark(packages, "gone")
        assert (run.returncode, run.stdout) == (1, "")
        assert run.stderr == shown.stderr.replace("warning: ", "")


def test_a_command_whose_module_is_missing_is_an_error_of_one_line(packages: Path) -> None:
    distribution(packages, "acme", "[birthmark.commands]\ngone = acme:WITHOUT_MODULE\n")
    run = birthmark(packages, "gone")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        "birthmark: gone: cannot be loaded from acme_is_not_there: No module named"
        " 'acme_is_not_there'\n"
    )


def night(packages: Path, what_if: str = "") -> tuple[list[str], str]:
    """Run a night on a small day; return its warnings and the day's page."""
    folder = packages.parent
    (folder / "day.txt").write_text(trace_of(day_of_lives(MONDAY, each=1)))
    config = folder / "birthmark.toml"
    config.write_text(
        f'[traces]\nfiles = ["day.txt"]\nsettle_seconds = 0\n[day_page]\n{what_if}\n'
        '[datasets]\ndirectory = "datasets"\n[registry]\ndirectory = "registry"\n'
        '[training]\nkinds = ["able"]\nserve = "able"\n[engine]\nworkers = 1\n'
    )
    run = birthmark(packages, "nightly", "--config", config, "--json")
    assert run.returncode == 0, run.stderr
    (page,) = (folder / "datasets").glob("*/day.html")
    return json.loads(run.stdout)["warnings"], page.read_text()


def test_a_package_advises_on_the_night_s_page_and_a_broken_one_is_a_warning(
    packages: Path,
) -> None:
    distribution(packages, "acme", "[birthmark.nightly]\ngone = acme:GONE\npaint = acme:advice\n")
    (warning,), page = night(packages)
    assert warning.startswith("package acme: birthmark.nightly, gone = acme:GONE: AttributeError:")
    assert "datasets: paint a tunnel in the registry." in page


def test_the_night_compares_the_configured_variants(packages: Path) -> None:
    variants = packages.parent / "variants.toml"
    variants.write_text('[variants.more]\nmemory = "64G"\n')
    warnings, page = night(packages, f'what_if = "{variants}"')
    assert warnings == []
    assert "No variant is measurably faster than the server as it is." in page


def test_the_core_runs_without_annexes(packages: Path) -> None:
    distribution(packages, "birthmark", "")  # comes before the installed one
    shown = birthmark(packages, "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    listed = [line[len("Service  ") :].split()[0] for line in shown.stdout.splitlines()[2:-2]]
    assert listed == list(cli.CORE)
    unknown = birthmark(packages, "workload")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    (warning,), _ = night(packages, 'what_if = "variants.toml"')
    assert warning.endswith("variants.toml: no installed package compares variants")


def test_the_example_of_a_command_runs(packages: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = ROOT / "docs" / "engineers.md"
    chapter = page.read_text().split("\n## Add a command\n")[1].split("\n## ")[0]
    folder = packages.parent
    (folder / "data").symlink_to(ROOT / "data")
    (folder / "chapter.md").write_text(chapter)
    Session(folder, "1").do(blocks(folder / "chapter.md"))
