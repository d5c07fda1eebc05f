"""Written files: created, filled, perhaps read or written again, perhaps removed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from birthmark.data.common.arrays import Bools, Floats, Ints
from birthmark.research.workloads.births import Births
from birthmark.research.workloads.profile import USES
from birthmark.research.workloads.rows import (
    COMMIT,
    CREATE,
    GETATTR,
    LOOKUP,
    NEVER,
    NO_ENTRY,
    READ,
    REMOVE,
    WRITE,
    Rows,
    latencies,
    own_name,
    rows_of,
)

_READ, _REWRITTEN = USES.index("read"), USES.index("rewritten")
_TRANSFER = 8192
_PACE = 2_500  # microseconds between two transfers, where a life is long enough
_LONGEST = 7_200_000_000  # microseconds after which a file is not read again
_QUICK = 4_000  # microseconds: limit of the calls before the first write


@dataclass(frozen=True)
class _Schedule:
    """The times of actions on each file; `writing` and what follows in µs after its birth."""

    looked: Ints
    wait: Ints  # for the reply to the create
    born: Ints
    span: Floats
    writing: Floats  # how long the writes take
    committed: Floats
    read_from: Floats
    reading: Floats  # how long the reads take


def _schedule(births: Births, rng: np.random.Generator) -> _Schedule:
    """Divide each life by its lifespan: the first half has the writes, at a steady pace."""
    count = len(births.start)
    looked = births.start + latencies(rng, LOOKUP, count).clip(max=_QUICK)
    wait = latencies(rng, CREATE, count).clip(max=_QUICK)
    span = np.minimum(births.life, _LONGEST).astype(np.float64)
    steady = -(-births.size // _TRANSFER) * float(_PACE)
    writing = np.minimum(0.5 * span, steady)
    committed = writing + np.minimum(0.02 * span, 20_000)
    read_from = writing + (0.1 + 0.3 * rng.random(count)) * (span - writing)
    reading = np.minimum(0.2 * span, steady)
    born = looked + 200 + wait
    return _Schedule(looked, wait, born, span, writing, committed, read_from, reading)


def file_rows(births: Births, rng: np.random.Generator) -> Rows:
    """Return the operations on written files.

    The writes come first, then the reads and rewrites, and at the end the removal.
    """
    at, written = _schedule(births, rng), births.size > 0
    again = written & (births.use == _REWRITTEN)
    comes_back = written & (births.use == _READ) | again
    mortal = births.life != NEVER
    room = 0.01 * at.span
    steps = [
        _made(births, LOOKUP, at.looked, at.looked - births.start, status=NO_ENTRY),
        _made(births, CREATE, at.born, at.wait, obj=births.slot, arg=births.mode),
        _transfers(births, WRITE, written, at.born, (0 * at.span, at.writing), rng),
        _single(births, COMMIT, written, at.born + at.committed, room, rng),
        _single(births, GETATTR, comes_back, at.born + at.read_from - room, room, rng),
        _transfers(births, READ, comes_back, at.born, (at.read_from, at.reading), rng),
        _single(births, WRITE, again, at.born + 0.92 * at.span, room, rng),
    ]
    removed = _single(births, REMOVE, mortal, at.born + births.life * mortal, room, rng)
    removed["dir"], removed["name"] = births.directory[mortal], own_name(births.slot[mortal])
    return np.concatenate([*steps, removed])


def _made(births: Births, op: int, reply: Ints, wait: Ints, **columns: Any) -> Rows:
    """Return a row for each file, with its name."""
    name = {"dir": births.directory, "name": own_name(births.slot)}
    who = {"user": births.user, "client": births.client}
    times = {"call": reply - wait, "reply": reply}
    return rows_of(op, len(births.start), **name, **who, **times, **columns)


def _single(
    births: Births, op: int, chosen: Bools, reply: Any, room: Floats, rng: np.random.Generator
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
    births: Births, op: int, chosen: Bools, born: Ints, when: tuple[Floats, Floats],
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
