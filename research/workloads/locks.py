"""Locking by link: the thesis's "common protocol for creating lockfiles" (section 6.3.5).

An empty file is created under a unique name, and linked to the name of the lock. If it then has two
links, the lock is held. The unique name is removed at once, the lock's name on release.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from birthmark.data.common.arrays import Ints
from birthmark.research.workloads.births import Births
from birthmark.research.workloads.rows import (
    CREATE,
    GETATTR,
    LINK,
    LOOKUP,
    NO_ENTRY,
    NONE,
    REMOVE,
    SETATTR,
    Rows,
    latencies,
    own_name,
    rows_of,
)

_STEPS = (LOOKUP, LOOKUP, CREATE, SETATTR, LINK, GETATTR, REMOVE)
_QUICK = 4_000  # microseconds: limit of a step, so that all steps fit into the shortest lives


def lock_rows(births: Births, lock: Ints, rng: np.random.Generator) -> Rows:
    """Return the operations on lock files; `lock` has the indices of the locks' names."""
    count = len(births.start)
    ops = np.array(_STEPS)
    waits = latencies(rng, ops, (count, len(ops))).clip(max=_QUICK)
    pauses = rng.integers(40, 400, (count, len(ops)))
    replies = births.start[:, None] + np.cumsum(waits + pauses, axis=1)
    born = replies[:, _STEPS.index(CREATE)]
    common: dict[str, Any] = {"user": births.user, "client": births.client, "dir": births.directory}
    own, object_ = own_name(births.slot), births.slot
    columns: tuple[dict[str, Any], ...] = (
        {"name": lock, "status": NO_ENTRY},
        {"name": own, "status": NO_ENTRY},
        {"name": own, "obj": object_, "arg": NONE},  # EXCLUSIVE: carries no mode
        {"obj": object_, "arg": births.mode, "dir": NONE},
        {"name": lock, "obj": object_},
        {"obj": object_, "dir": NONE},
        {"name": own, "obj": object_},
    )
    steps = [
        rows_of(op, count, **common | more, call=replies[:, i] - waits[:, i], reply=replies[:, i])
        for i, (op, more) in enumerate(zip(_STEPS, columns, strict=True))
    ]
    return np.concatenate([*steps, _let_go(births, lock, born + births.life, rng)])


def _let_go(births: Births, lock: Ints, gone: Ints, rng: np.random.Generator) -> Rows:
    """Return the removals of the locks' names, which end the files."""
    wait = latencies(rng, REMOVE, len(gone)).clip(max=_QUICK)
    return rows_of(
        REMOVE, len(gone), user=births.user, client=births.client, dir=births.directory,
        name=lock, obj=births.slot, call=gone - wait, reply=gone,
    )  # fmt: skip
