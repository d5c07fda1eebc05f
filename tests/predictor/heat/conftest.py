"""Lives made by hand: logs, locks and pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pytest

from tests.builders.lives import UNKNOWN, files_of, life

START = datetime(2003, 2, 25, 10, tzinfo=UTC)


def lived(
    name: bytes | None,
    seconds: float = 0.0,
    alive: bool = True,
    born: bool = True,
    **columns: Any,
) -> dict[str, Any]:
    """Return a row of the files table: a file that lived, or was watched, for so many seconds."""
    known = UNKNOWN | {"dir_fh": b"d", "dir_name": b"dir", "max_size": 0} | columns
    return life(
        name, 0.0 if born else None, None if alive else seconds, end=seconds, day=START, **known
    )


@pytest.fixture(name="life")
def life_fixture() -> Callable[..., dict[str, Any]]:
    return lived


@pytest.fixture(name="table")
def table_fixture() -> Callable[..., pa.Table]:
    return files_of
