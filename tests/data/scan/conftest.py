"""Tables shared by the tests of scan."""

from __future__ import annotations

from pathlib import Path

import pytest

from birthmark.data.samples import DAYS
from birthmark.data.scan import Plan, scan

KEYS = ["client", "uid", "directory"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a directory with the first bundled day's counts, in every format."""
    out = tmp_path_factory.mktemp("scan")
    scan([DAYS[0]], out, Plan(5_000_000, KEYS))
    return out


@pytest.fixture
def counts(folder: Path) -> str:
    """Return the table of counts."""
    return str(folder / "counts.parquet")
