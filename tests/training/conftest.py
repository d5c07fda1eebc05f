"""Lives made by hand, and two days of them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

from birthmark.data.schema import FILES, NAMES

MONDAY = datetime(2001, 10, 22, tzinfo=UTC)

COUNTERS = ("operations", "reads", "writes", "bytes_read", "bytes_written")


def life(
    name: bytes,
    born: float | None = 0.0,
    lifespan: float | None = None,
    end: float = 86_400.0,
    day: datetime = MONDAY,
    **columns: Any,
) -> dict[str, Any]:
    """Return a row for either table; times in seconds since the day began.

    `born` None: the birth was not seen. `lifespan` None: alive when the trace ended, at `end`.
    """
    start = day + timedelta(seconds=born or 0.0)
    until = day + timedelta(seconds=end)
    if lifespan is not None:
        until = start + timedelta(seconds=lifespan)
    return {
        "server": "home",
        "dir_fh": b"directory",
        "fh": name + repr((day, born)).encode(),
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


def files_of(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=FILES)


def names_of(*rows: dict[str, Any]) -> pa.Table:
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


def trace_of(rows: list[dict[str, Any]]) -> str:
    """Return the traffic that makes such lives, as nfsdump writes it."""
    lines: list[tuple[float, str]] = []
    for number, row in enumerate(rows):
        born, died, size = row["born"].timestamp(), row["died"], row["max_size"]
        handle, name = f"{number + 1:064x}", row["name"].decode()
        create = f'fh {0:064x} name "{name}" how U mode {row["mode"]:x} uid 1 gid 1'
        lines += exchange(born, 8, "create", create, f"fh {handle} {attributes(born, 0)}")
        if size:
            stored = f"{attributes(born + 0.1, size)} count {size:x} stable F"
            write = f"fh {handle} off 0 count {size:x} stable F"
            lines += exchange(born + 0.1, 7, "write", write, stored)
        if died is not None:
            lines += exchange(died.timestamp(), 12, "remove", f'fh {0:064x} name "{name}"', "")
    return "".join(
        line.replace("XID", f"{number // 2:x}") for number, (_, line) in enumerate(sorted(lines))
    )


def exchange(time: float, number: int, op: str, call: str, reply: str) -> list[tuple[float, str]]:
    """Return a call and its reply a tenth of a millisecond later, each with its time."""
    asked = f"{time:.6f} 31.03ff 30.0801 T C3 XID {number:x} {op} {call} con = 1 len = 1\n"
    told = (
        f"{time + 1e-4:.6f} 30.0801 31.03ff T R3 XID {number:x} {op} OK {reply}"
        " status=0 pl = 1 con = 1 len = 1\n"
    )
    return [(time, asked), (time + 1e-4, told)]


def attributes(time: float, size: int) -> str:
    times = " ".join(f"{name} {time:.6f}" for name in ("atime", "mtime", "ctime"))
    return (
        f"ftype 1 mode 180 nlink 1 uid 1 gid 1 size {size:x} used {size:x}"
        f" rdev 0 rdev2 0 fsid 1 fileid 1 {times}"
    )


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
