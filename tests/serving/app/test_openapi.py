"""The OpenAPI document, and requests that schemathesis makes from it.

Tests also serving/messages/responses.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from birthmark.serving.access import tokens
from birthmark.serving.messages.errors import TYPES
from birthmark.serving.settings import Settings

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.json"
FORMATS = Path(__file__).parents[1] / "api_formats.py"
EXAMPLES = "100"


def test_every_type_of_error_is_described_under_its_status() -> None:
    responses = json.loads(DOCUMENT.read_text())["components"]["responses"]
    found = {}
    for name, response in responses.items():
        error = response["content"]["application/json"]["schema"]["properties"]["error"]
        for kind in error["properties"]["type"]["enum"]:
            found[kind] = int(name.removeprefix("Error"))
    assert found == TYPES


@pytest.mark.deep
def test_schemathesis_finds_nothing(
    served: Callable[..., Any],
    settings_for: Callable[..., Settings],
    publish: Callable[..., str],
    tmp_path: Path,
) -> None:
    publish(tmp_path / "registry", heat=True)
    token = tokens.add(tmp_path / "tokens.json", "all", tokens.SCOPES)
    settings = settings_for(tmp_path / "registry", tokens=tmp_path / "tokens.json")
    with served(settings) as client:
        command = [sys.executable, "-m", "schemathesis.cli", "run", str(DOCUMENT)]
        command += ["--url", str(client.base_url), "--header", f"Authorization: Bearer {token}"]
        command += ["--max-examples", EXAMPLES]
        # It makes no Arrow: tests/serving/live does.
        command += ["--exclude-path", "/v1/history"]
        command += ["--generation-deterministic", "--no-color"]
        environment = os.environ | {"SCHEMATHESIS_HOOKS": str(FORMATS)}
        run = subprocess.run(
            command, cwd=tmp_path, env=environment, text=True, capture_output=True, check=False
        )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Test cases" in run.stdout
