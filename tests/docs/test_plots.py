"""The plots in the guide are those that its commands make."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .test_examples import ROOT, blocks, commands

pytestmark = pytest.mark.deep

PLOTS = ROOT / "docs" / "scan"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory in which the guide's scans were run."""
    directory = tmp_path_factory.mktemp("plots")
    (directory / "data").mkdir()
    (directory / "data" / "samples").symlink_to(ROOT / "data" / "samples")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    for block in blocks(ROOT / "docs" / "scan.md"):
        for command, _ in commands(block.body) if block.language == "console" else ():
            if re.search(r"\.parquet( |$)|\.svg", command):
                subprocess.run(
                    ["bash", "-c", command],
                    cwd=directory,
                    env={**os.environ, "PATH": path},
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
    return directory


def test_every_plot_is_shown_and_made(made: Path) -> None:
    names = {path.name for path in PLOTS.iterdir()}
    shown = re.findall(r"\]\(scan/(.*?)\)", (ROOT / "docs" / "scan.md").read_text("utf-8"))
    assert set(shown) == names == {path.name for path in made.glob("*.svg")}


@pytest.mark.parametrize("name", sorted(path.name for path in PLOTS.iterdir()))
def test_a_plot_is_as_its_command_makes_it(name: str, made: Path) -> None:
    assert (made / name).read_bytes() == (PLOTS / name).read_bytes()
