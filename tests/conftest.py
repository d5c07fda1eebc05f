"""Fixtures that every folder's tests share."""

from __future__ import annotations

import os
from pathlib import Path

# scikit-learn's checks of array inputs need it, and read it when scipy is imported
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
from hypothesis import settings

from birthmark.data.ingest.run import ingest
from tests import speeds

# Machines that run the tests are shared: how long an example takes says nothing.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")


def pytest_configure(config: pytest.Config) -> None:
    # They are settings of the service, and tests choose theirs: whoever runs them may serve, too.
    for name in [name for name in os.environ if name.startswith("BIRTHMARK_")]:
        del os.environ[name]
    # Nor does a verdict depend on the terminal and the umask of whoever runs the tests.
    for name in ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR"):
        os.environ.pop(name, None)
    os.umask(0o022)
    config.pluginmanager.register(speeds)


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference captures, or skip: they are not part of the project."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("TEST_SHARED", beside))
    if not (folder / "captures").is_dir():
        pytest.skip(f"needs the reference captures, which are not at {folder}")
    return folder


@pytest.fixture(scope="session")
def captured_days(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return a dataset of each captured day, in their order."""
    captures = sorted((shared / "captures").glob("day*.pcap*"))
    if not captures:
        pytest.skip("the captured days are not there")
    folder = tmp_path_factory.mktemp("captured")
    days = [folder / str(number) for number in range(len(captures))]
    for capture, day in zip(captures, days, strict=True):
        ingest([str(capture)], day)
    return days
