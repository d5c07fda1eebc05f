"""``-`` is standard output, or refused: nothing makes a file that is called so."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from birthmark.cli import app
from birthmark.data.samples import DAYS

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
    "replay build t --out -",
    "replay run b --root -",
    "replay run b --root r --results -",
    "report d --registry r --out -",
    "scan view t --out -",
    "windows d --test d --parquet -",
    "workload campus --seed 1 --out -",
]


@pytest.mark.parametrize("command", WRITTEN)
def test_what_is_not_written_to_standard_output_takes_no_dash(
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
