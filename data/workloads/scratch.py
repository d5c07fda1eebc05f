"""Files that are written: created, filled, perhaps read or written again, perhaps removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from data.workloads.profile import USES
from data.workloads.rows import (
    COMMIT,
    CREATE,
    GETATTR,
    LOOKUP,
    NEVER,
    NO_ENTRY,
    READ,
    REMOVE,
    WRITE,
    Flags,
    Floats,
    Ints,
    Rows,
    latencies,
    own_name,
    rows_of,
)

if TYPE_CHECKING:
    from data.workloads.births import Births

_READ, _REWRITTEN = USES.index("read"), USES.index("rewritten")
_TRANSFER = 8192
_PACE = 2_500  # microseconds between two transfers, where a life is long enough
_LONGEST = 7_200_000_000  # microseconds after which nobody comes back to a file to read it
_QUICK = 4_000  # microseconds: most that the calls before the first write take


def file_rows(births: Births, rng: np.random.Generator) -> Rows:
    """Return the operations on written files, each life divided up by its lifespan.

    The first half of a life has the writes, at a steady pace; then come the reads, and what is
    written again; at its end the file is removed.
    """
    count, written = len(births.start), births.size > 0
    looked = births.start + latencies(rng, LOOKUP, count).clip(max=_QUICK)
    wait = latencies(rng, CREATE, count).clip(max=_QUICK)
    born = looked + 200 + wait
    span = np.minimum(births.life, _LONGEST).astype(np.float64)
    steady = -(-births.size // _TRANSFER) * float(_PACE)
    writing, reading = np.minimum(0.5 * span, steady), np.minimum(0.2 * span, steady)
    read_from = writing + (0.1 + 0.3 * rng.random(count)) * (span - writing)
    again = written & (births.use == _REWRITTEN)
    comes_back = written & (births.use == _READ) | again
    committed = writing + np.minimum(0.02 * span, 20_000)
    mortal = births.life != NEVER
    steps = [
        _made(births, LOOKUP, looked, looked - births.start, status=NO_ENTRY),
        _made(births, CREATE, born, wait, obj=births.slot, arg=births.mode),
        _transfers(births, WRITE, written, born, (0 * span, writing), rng),
        _single(births, COMMIT, written, born + committed, 0.01 * span, rng),
        _single(births, GETATTR, comes_back, born + read_from - 0.01 * span, 0.01 * span, rng),
        _transfers(births, READ, comes_back, born, (read_from, reading), rng),
        _single(births, WRITE, again, born + 0.92 * span, 0.01 * span, rng),
    ]
    ends = born + births.life * mortal
    removed = _single(births, REMOVE, mortal, ends, 0.01 * span, rng)
    removed["dir"], removed["name"] = births.directory[mortal], own_name(births.slot[mortal])
    return np.concatenate([*steps, removed])


def _made(births: Births, op: int, reply: Ints, wait: Ints, **columns: Any) -> Rows:
    """Return a row for each file, with its name."""
    name = {"dir": births.directory, "name": own_name(births.slot)}
    who = {"user": births.user, "client": births.client}
    times = {"call": reply - wait, "reply": reply}
    return rows_of(op, len(births.start), **name, **who, **times, **columns)


def _single(
    births: Births, op: int, chosen: Flags, reply: Any, room: Floats, rng: np.random.Generator
) -> Rows:
    """Return a row for each of the chosen files, its latency at most `room`."""
    replies = reply[chosen].astype(np.int64)
    waits = np.minimum(latencies(rng, op, len(replies)), room[chosen]).astype(np.int64)
    return rows_of(
        op, len(replies), call=replies - waits, reply=replies, obj=births.slot[chosen],
        user=births.user[chosen], client=births.client[chosen],
        count=np.minimum(births.size[chosen], _TRANSFER) * (op == WRITE),
    )  # fmt: skip


def _transfers(
    births: Births, op: int, chosen: Flags, born: Ints, when: tuple[Floats, Floats],
    rng: np.random.Generator,
) -> Rows:  # fmt: skip
    """Return the transfers of whole files: `when` they begin after birth, and take, in µs."""
    parts = -(-births.size // _TRANSFER)
    file = np.repeat(np.flatnonzero(chosen), parts[chosen])
    first = np.repeat(np.cumsum(parts[chosen]) - parts[chosen], parts[chosen])
    place = np.arange(len(file)) - first
    begins, lasts = when
    pace = lasts[file] / parts[file].clip(min=1)
    replies = (born[file] + begins[file] + (place + 1) * pace).astype(np.int64)
    waits = np.minimum(latencies(rng, op, len(file)), 0.8 * pace).astype(np.int64)
    offsets = place * _TRANSFER
    return rows_of(
        op, len(file), call=replies - waits, reply=replies, obj=births.slot[file],
        user=births.user[file], client=births.client[file], offset=offsets,
        count=np.minimum(births.size[file] - offsets, _TRANSFER),
    )  # fmt: skip
