"""``-`` is standard output, or refused: nothing makes a file that is called so."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from socket import AF_UNIX, socket

import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.samples import DAYS
from tests import needs
from tests.birthmark.test_cli import birthmark
from tests.builders.traces import exchange
from tests.folders import FOLDERS, RESEARCH

WRITTEN = [
    "audit d --registry r --log l --out -",
    "evaluate d --registry r --parquet -",
    "evaluate d --registry r --curves -",
    "evaluate d --registry r --breakdown -",
    "evaluate d --registry r --plot -",
    "image --out -",
    "ingest t --out -",
    "install systemd --config c --out -",
    "layout t --model m --out -",
    "report d --registry r --out -",
    "scan view t --out -",
    "windows d --test d --parquet -",
]
if RESEARCH in FOLDERS:
    WRITTEN += [
        "research replay build t --out -",
        "research replay run b --root -",
        "research replay run b --root r --results -",
        "research workload campus --seed 1 --out -",
    ]


@pytest.mark.parametrize("command", WRITTEN)
def test_an_output_file_cannot_be_a_dash(
    command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(app, command.split())
    assert refused.exit_code == 2
    assert "expected a name: this is not" in refused.stderr


def test_a_dump_is_written_to_standard_output_for_a_dash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = ["dump", str(DAYS[0]), "--from", "operations"]
    dashed = CliRunner().invoke(app, [*arguments, "--out", "-"])
    assert dashed.stdout_bytes == CliRunner().invoke(app, arguments).stdout_bytes != b""
    assert list(tmp_path.iterdir()) == []


OUTPUTS = [
    "dump trace --out OUT",
    "anonymize trace --mapping m --seed 1 --out OUT",
    "scan trace --out OUT",
    pytest.param(
        "research workload campus --seed 1 --days 0.01 --rate 0.001 --out OUT",
        marks=needs.folder_research,
    ),
]
"""Commands that write a file, in a directory that has a ``trace`` of nfsdump text."""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    lines = exchange(1e9, 3, "lookup", f'fh {0:064x} name "a.lock"', "")
    (tmp_path / "trace").write_text("".join(line.replace("XID", "1") for _, line in lines))
    return tmp_path


@pytest.mark.parametrize("command", OUTPUTS, ids=lambda command: command.split()[0])
def test_a_symbolic_link_stays_where_an_output_is_written(command: str, place: Path) -> None:
    (place / "link.txt").symlink_to("real.txt")
    done = CliRunner().invoke(app, command.replace("OUT", "link.txt").split())
    assert done.exit_code == 0, done.output
    assert (place / "link.txt").is_symlink()
    assert (place / "real.txt").stat().st_size > 0


@pytest.mark.parametrize("command", OUTPUTS, ids=lambda command: command.split()[0])
def test_a_fifo_gets_an_output_and_stays(command: str, place: Path) -> None:
    os.mkfifo(place / "fifo.txt")
    os.link(place / "fifo.txt", place / "same")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((place / "fifo.txt").read_bytes)
        done = CliRunner().invoke(app, command.replace("OUT", "fifo.txt").split())
        with suppress(OSError):  # ends a reader that still waits
            os.close(os.open(place / "same", os.O_WRONLY | os.O_NONBLOCK))
        assert done.exit_code == 0, done.output
        assert read.result(timeout=60)
    assert (place / "fifo.txt").is_fifo()


def test_a_status_that_is_no_regular_file_is_refused_before_anything_is_done(place: Path) -> None:
    os.mkfifo(place / "fifo")
    done = CliRunner().invoke(app, ["follow", "trace", "out", "--status", "fifo"])
    assert done.exit_code == 1
    assert "fifo" in str(done.exception)
    assert "expected a regular file" in str(done.exception)
    assert (place / "fifo").is_fifo()
    assert not (place / "out").exists()


def test_an_output_that_no_file_can_be_is_refused_before_anything_is_done(place: Path) -> None:
    with socket(AF_UNIX) as server:
        server.bind("socket")
        done = CliRunner().invoke(app, ["models", "image", "--registry", "none", "--out", "socket"])
    assert "expected a regular file" in str(done.exception)
    assert (place / "socket").is_socket()


FULL = "No space left on device; make room there, or write to another disk"


@pytest.mark.parametrize("command", OUTPUTS, ids=lambda command: command.split()[0])
def test_a_full_disk_is_named_with_what_to_do(command: str, place: Path) -> None:
    (place / "full.txt").symlink_to("/dev/full")
    done = birthmark(*command.replace("OUT", "full.txt").split())
    assert done.returncode == 1
    assert done.stderr.decode().splitlines()[-1] == f"birthmark: full.txt: {FULL}"


def test_a_full_standard_output_is_named(place: Path) -> None:
    command = [sys.executable, "-m", "birthmark", "dump", "trace"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, check=False, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr.startswith(b"birthmark: standard output or a temporary file in ")
    assert FULL.encode() in done.stderr


def test_a_regular_file_on_standard_input_is_followed(place: Path) -> None:
    command = [sys.executable, "-m", "birthmark", "follow", "-", "out", "--json"]
    with (place / "trace").open("rb") as trace:
        done = subprocess.run(command, check=True, stdin=trace, capture_output=True)
    assert json.loads(done.stdout)["operations"] == 1
