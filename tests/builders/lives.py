"""Lives made by hand: rows for the files and the names table, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from birthmark.data.schema import FILES, NAMES

MONDAY = datetime(2001, 10, 22, tzinfo=UTC)
COUNTERS = ("operations", "reads", "writes", "bytes_read", "bytes_written")
UNKNOWN = dict.fromkeys(("dir_fh", "mode", "uid", "gid"))
"""Columns that are null in a life of which only the times are known."""


def life(
    name: bytes | None,
    born: float | None = 0.0,
    lifespan: float | None = None,
    end: float = 86_400.0,
    day: datetime = MONDAY,
    **columns: Any,
) -> dict[str, Any]:
    """Return a row for either table; times in seconds since the day began.

    `born` None: the birth was not seen. `lifespan` None: alive when the trace ended, at `end`.
    `columns` are added, or replace the defaults of every life: a file of user 1 on one server.
    """
    start = day + timedelta(seconds=born or 0.0)
    until = day + timedelta(seconds=end)
    if lifespan is not None:
        until = start + timedelta(seconds=lifespan)
    return {
        "server": "home",
        "dir_fh": b"directory",
        "fh": repr((name, day, born, columns)).encode(),
        "name": name,
        "kind": "file",
        "how_born": None if born is None else "create",
        "born": None if born is None else start,
        "birth_seen": born is not None,
        "first_seen": start,
        "last_seen": until,
        "died": None if lifespan is None else until,
        "death_seen": lifespan is not None,
        "how_died": None if lifespan is None else "remove",
        "observed_until": until,
        "mode": 0o600,
        "uid": 1,
        "gid": 1,
        **dict.fromkeys(COUNTERS, 0),
        **columns,
    }


def table(schema: pa.Schema, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Return rows as a table in which omitted values are null, even where that is forbidden."""
    nullable = pa.schema([field.with_nullable(True) for field in schema])
    return pa.Table.from_pylist([dict(row) for row in rows], schema=nullable)


def files_of(*rows: dict[str, Any]) -> pa.Table:
    """Return the files table of whole lives."""
    return pa.Table.from_pylist(list(rows), schema=FILES)


def names_of(*rows: dict[str, Any]) -> pa.Table:
    """Return the names table of whole lives, each with the size and writes of its file."""
    named = [
        {**row, "file_max_size": row.get("max_size"), "file_writes": row.get("writes", 0)}
        for row in rows
    ]
    return pa.Table.from_pylist(named, schema=NAMES)


def day_of_lives(day: datetime, each: int) -> list[dict[str, Any]]:
    """Return a day on which locks live half a second, drafts a minute, and pages for ever."""
    rows = []
    for number in range(each):
        born = 90.0 * number
        rows += [
            life(b"inbox.lock", born, 0.5, day=day, max_size=0),
            life(b"#pico%05d" % number, born + 10, 60, day=day, max_size=900, writes=1),
            life(
                b"page%d.html" % number, born + 20, day=day, max_size=50_000, writes=7, mode=0o644
            ),
        ]
    return rows
