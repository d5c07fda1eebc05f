"""Lives made by hand, for a world of logs, locks and pages."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data.schema import FILES

START = datetime(2003, 2, 25, 10, tzinfo=UTC)
COUNTERS = ("operations", "reads", "writes", "bytes_read", "bytes_written")


def life(
    name: bytes | None,
    seconds: float = 0.0,
    alive: bool = True,
    born: bool = True,
    **columns: Any,
) -> dict[str, Any]:
    """Return a row of the files table: a file that lived, or was watched, for so many seconds."""
    until = START + timedelta(microseconds=round(seconds * 1e6))
    return {
        "server": "s",
        "fh": b"handle of " + repr((name, columns)).encode(),
        "dir_fh": b"d",
        "dir_name": b"dir",
        "name": name,
        "kind": "file",
        "born": START if born else None,
        "birth_seen": born,
        "first_seen": START,
        "last_seen": until,
        "died": None if alive else until,
        "death_seen": not alive,
        "observed_until": until,
        "max_size": 0,
        **dict.fromkeys(COUNTERS, 0),
        **columns,
    }


def table(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=FILES)


@pytest.fixture(name="life")
def life_fixture() -> Callable[..., dict[str, Any]]:
    return life


@pytest.fixture(name="table")
def table_fixture() -> Callable[..., pa.Table]:
    return table
