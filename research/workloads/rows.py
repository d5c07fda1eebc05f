"""Planned operations: the compact records of a workload before they become a table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from birthmark.data.common.arrays import Ints

OPS = (
    "lookup",
    "getattr",
    "access",
    "read",
    "write",
    "create",
    "remove",
    "setattr",
    "link",
    "commit",
    "fsstat",
)
"""The procedures that workloads use, by their codes."""

LOOKUP, GETATTR, ACCESS, READ, WRITE, CREATE, REMOVE, SETATTR, LINK, COMMIT, FSSTAT = range(
    len(OPS)
)

LATENCY = np.array([250, 180, 180, 900, 1300, 900, 800, 300, 600, 3000, 200])
"""Median time from call to reply, microseconds, by code."""

NO_ENTRY = 2
"""NFS3ERR_NOENT."""

NONE = -1
"""No object, directory or name."""

ROW = np.dtype(
    [
        ("call", np.int64),  # microseconds since the epoch
        ("reply", np.int64),
        ("op", np.uint8),  # a code of OPS
        ("status", np.uint8),
        ("obj", np.int32),  # the object found, made, used or removed: an index of Objects
        ("dir", np.int32),  # the directory of the name
        ("name", np.int32),  # an index of the site's names; below NONE: `own_name` of an object
        ("offset", np.int64),
        ("count", np.int32),
        ("arg", np.int32),  # mode of create and setattr (EXCLUSIVE: NONE), bits of access
        ("user", np.int32),
        ("client", np.int16),
        ("last", np.bool_),  # whether no later operation names the object
    ]
)

Rows = npt.NDArray[Any]
"""An array of ROW."""


NEVER = int(np.iinfo(np.int64).max)
"""The lifespan of a file that is not removed."""


def own_name(slots: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the `name` values for the names that objects were created with."""
    return -2 - slots


def rows_of(op: int, count: int, /, **columns: Any) -> Rows:
    """Return `count` rows of one procedure; omitted columns are 0, or none."""
    rows = np.zeros(count, ROW)
    rows["op"] = op
    for name in ("obj", "dir", "name"):
        rows[name] = NONE
    for name, values in columns.items():
        rows[name] = values
    return rows


def latencies(rng: np.random.Generator, op: npt.NDArray[Any] | int, shape: Any) -> Ints:
    """Draw times from call to reply, microseconds: log-normal about the median of each `op`."""
    drawn = LATENCY[op] * np.exp(0.5 * rng.standard_normal(shape))
    waits: Ints = np.clip(drawn, 60, 200_000).astype(np.int64)
    return waits


def mark_last(rows: Rows) -> Rows:
    """Mark the last row of each object, in place; return `rows`."""
    named = np.flatnonzero(rows["obj"] != NONE)
    order = named[np.lexsort((rows["reply"][named], rows["obj"][named]))]
    objects = rows["obj"][order]
    final = np.append(objects[1:] != objects[:-1], True)[: len(order)]
    rows["last"][order[final]] = True
    return rows
