"""Fixtures that the tests of the helper share."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import needs
from tests.layout_hint.hintd import CRATE, ROOT, Answering, Process, answering
from tests.waiting import reserved_port


@pytest.fixture(scope="session")
def program() -> Path:
    """Return the helper, built for its tests."""
    needs.program("cc", "gcc")
    subprocess.run([needs.program("cargo"), "build", "--locked", "--quiet"], cwd=CRATE, check=True)
    return ROOT / "target" / "debug" / "birthmark-hintd"


@pytest.fixture
def place() -> Iterator[Path]:
    """Return a folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="hintd") as folder:
        yield Path(folder)


@pytest.fixture
def started() -> Iterator[list[Process]]:
    """Hold what a test starts, and end it."""
    processes: list[Process] = []
    yield processes
    for process in processes:
        if process.running:
            process.running.kill()
            process.running.wait()


@pytest.fixture
def service() -> Iterator[Answering]:
    with answering() as service:
        yield service


@pytest.fixture
def port() -> Iterator[int]:
    with reserved_port() as port:
        yield port
