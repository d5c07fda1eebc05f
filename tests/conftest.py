"""Fixtures that every folder's tests share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder of reference captures, or skip: they are not part of the project."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("BIRTHMARK_SHARED", beside))
    if not (folder / "captures").is_dir():
        pytest.skip(f"needs the reference captures, which are not at {folder}")
    return folder
