"""Fixtures that the tests of the helper share."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import needs
from tests.layout_hint.hintd import CRATE, ROOT, Answering, Helper, Process, answering
from tests.layout_hint.write_life import IMAGE, RULE, Hinting, mounted
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


@pytest.fixture
def mount(place: Path) -> Iterator[Path]:
    """Return a file system."""
    with mounted(place / "mount", "tmpfs") as path:
        yield path


@pytest.fixture
def hinting(
    place: Path, started: list[Process], program: Path, monkeypatch: pytest.MonkeyPatch
) -> Hinting:
    """Return what starts a helper that hints by ``RULE``, and waits until it watches."""
    (place / "image").write_bytes(IMAGE)
    for name, keys in RULE.items():
        monkeypatch.setenv(name, keys)

    def start(
        mount: Path, *more: str, image: bool = True, measured: bool = False, ready: bool = True
    ) -> Helper:
        options = [] if measured else ["--unmeasured"]
        if image:
            options += [f"--image={place / 'image'}"]
        command = [str(program), f"--write-life={mount}", "--poll-seconds=0.05", *options, *more]
        helper = Helper(command, place / "helper.log", keeps="files keep their hints")
        started.append(helper)
        helper.start("hints what is created" if ready else "")
        return helper

    return start
