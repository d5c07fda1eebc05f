"""Lives made by hand, and two days of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pyarrow as pa
import pytest

from tests.builders.lives import MONDAY, day_of_lives, files_of, life, names_of
from tests.builders.traces import trace_of


@pytest.fixture(scope="session", name="life")
def life_fixture() -> Callable[..., dict[str, Any]]:
    return life


@pytest.fixture(scope="session", name="files_of")
def files_of_fixture() -> Callable[..., pa.Table]:
    return files_of


@pytest.fixture(scope="session", name="names_of")
def names_of_fixture() -> Callable[..., pa.Table]:
    return names_of


@pytest.fixture(scope="session")
def days() -> list[tuple[pa.Table, pa.Table]]:
    """Return the files and names tables of Monday and of Tuesday."""
    rows = [day_of_lives(MONDAY + timedelta(days=number), each=20) for number in range(2)]
    return [(files_of(*day), names_of(*day)) for day in rows]


@pytest.fixture(scope="session")
def traces() -> list[str]:
    """Return what nfsdump would have written on those two days and on Wednesday."""
    return [trace_of(day_of_lives(MONDAY + timedelta(days=number), each=20)) for number in range(3)]
