"""Every command that prints tables or sentences, on a terminal of 80 columns: nothing is wider."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from rich.cells import cell_len

from birthmark.data.samples import DAYS
from tests import needs
from tests.terminals import lines, on_terminal

pytestmark = pytest.mark.deep

COLOURED = re.compile(r"\x1b\[[0-9;]*\b(3[0-7]|4[0-7]|9[0-7]|38|48)[0-9;]*m")

ASKED = [
    {"name": "_cfG.89SArB.vm", "uid": 1003, "gid": 100, "time": "2026-11-21T05:43:24.360Z"},
    {"name": ".Xauthority-c", "uid": 1002, "gid": 100, "time": "2026-11-21T05:43:26.130Z"},
]
"""Files of the second day, as a file server would ask about them."""

NIGHT = """\
[traces]
files = ["traces/*.parquet"]

[datasets]
directory = "datasets"

[registry]
directory = "registry"
"""

COMMANDS = [
    "--help",
    "models list",
    "models show",
    "evaluate versions {before} {now}",
    "models verify",
    "predict inbox.lock",
    "predict --explain inbox.lock",
    "models rules",
    "evaluate day2 --registry registry",
    "evaluate day2 --all-models --registry registry",
    "evaluate report day2 --out report.html --registry registry",
    "audit day2 --log log --out audit.html --registry registry",
    "evaluate windows day1 day2 --test day2",
    "models image --out model.image",
    "layout f2fs lists",
    "layout day2 --model registry --from 05:43 --to 05:45 --seeds 1 --cache 16M --mode preferred",
    "nightly --config night.toml --dry-run",
    "doctor --config night.toml --no-service",
    "storage fit day1",
    "storage what-if day1 --try memory=64G --try write_buffer=64M --out what-if",
    pytest.param("research attached nfs --requests 1000", marks=needs.folder_research),
    pytest.param("research paper 000 --seeds 1", marks=needs.folder_research),
    "scan {trace} --out scan.parquet",
    "tokens add me --scope read --tokens tokens.json",
    "tokens list --tokens tokens.json",
    "ingest night.toml --out nothing",
]


def birthmark(*arguments: object, at: Path) -> None:
    command = [sys.executable, "-m", "birthmark", *map(str, arguments)]
    subprocess.run(command, cwd=at, check=True, capture_output=True)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two days, models that learned from them, and a log of what was asked."""
    site = tmp_path_factory.mktemp("site")
    for day in DAYS:
        birthmark("ingest", day, "--out", day.stem, at=site)
    quick = ("--registry", "registry", "--trees", 4, "--rounds", 2)
    birthmark("train", "day2", *quick, "--no-test", at=site)
    birthmark("train", "day1", *quick, at=site)
    (site / "traces").mkdir()
    shutil.copy(DAYS[0], site / "traces")
    (site / "night.toml").write_text(NIGHT)
    words = ["serve", "--registry", "registry", "--log-predictions", "log", "--port", "0"]
    command = [sys.executable, "-m", "birthmark", *words]
    with subprocess.Popen(command, cwd=site, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        url = server.stdout.readline().split()[-1]
        body = json.dumps(ASKED).encode()
        with urllib.request.urlopen(f"{url}/v1/predictions", body, timeout=30) as answer:
            assert answer.status == 200
        server.terminate()  # what it has logged it writes now
    return site


@pytest.mark.parametrize("command", COMMANDS)
def test_nothing_is_wider_than_80_columns(
    site: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site)
    monkeypatch.setenv("BIRTHMARK_REGISTRY", "registry")
    before, now = (
        Path("registry", name).read_text().split()[-1] for name in ("history", "current")
    )
    words = command.format(before=before, now=now, trace=DAYS[1]).split()
    code, output = on_terminal(words)
    assert code in (0, 1), output
    assert "Traceback" not in output
    shown = lines(output)
    assert any(shown)
    assert [each for each in shown if cell_len(each) > 80] == []


@pytest.mark.parametrize("command", ["models list", "predict a.lock", "doctor --config night.toml"])
def test_in_a_pipe_and_without_colour_no_command_colours(
    site: Path, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(site)
    monkeypatch.setenv("BIRTHMARK_REGISTRY", "registry")
    words = [sys.executable, "-m", "birthmark", *command.split()]
    piped = subprocess.run(words, capture_output=True, check=False)
    assert b"\x1b" not in piped.stdout + piped.stderr
    _, output = on_terminal(command.split(), NO_COLOR="1")
    assert not COLOURED.search(output)
