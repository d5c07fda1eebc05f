from __future__ import annotations

from pathlib import Path

import pytest

from tests.data.anonymize.secret import DAMAGED, TEXT


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "Jabberwock.txt"
    path.write_text(TEXT + DAMAGED)
    return path
