"""Calls from the rows of a dataset's operations."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Ints
from birthmark.storage.what_if.columns import CLASSES, UNKNOWN
from birthmark.storage.what_if.lives import Births, Deaths

_CLASS_OF = {
    **{name: name for name in CLASSES},
    **{"mkdir": "create", "symlink": "create", "mknod": "create", "link": "create"},
    **{"open": "create", "rmdir": "remove", "readdir": "list", "readdirplus": "list"},
}
_RANK = (
    *("other", "getattr", "access", "lookup", "list", "setattr"),
    *("rename", "remove", "create", "commit", "write", "read"),
)
"""The operations by which a compound is classified: the last of these."""

COLUMNS = ["time", "reply_time", "client", "client_port", "uid", "version", "xid", "op", "fh"]
COLUMNS += ["new_fh", "ftype", "offset", "count", "reply_count", "stable", "size", "set_size"]
_DIRECTORY = 2
_CREATE = CLASSES.index("create")


class Numbers:
    """Numbers for values, from 1 in the order of first occurrence; 0 is none."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._next = count(1)

    def of(self, column: pa.Array) -> Ints:
        """Return the number of each value."""
        dictionary = pa.types.is_dictionary(column.type)
        encoded = column if dictionary else column.dictionary_encode()
        known = [self._number(one) for one in encoded.dictionary.to_pylist()]
        return np.array([*known, 0], np.int64)[_ints(encoded.indices, len(known))]

    def of_integers(self, values: Ints) -> Ints:
        """Return the number of each value."""
        keys, inverse = np.unique(values, return_inverse=True)
        return np.array([self._number(int(key)) for key in keys])[inverse]

    def forget(self, column: pa.Array) -> None:
        """Forget values, so that memory is needed only for those in use."""
        for one in column.to_pylist():
            self._numbers.pop(one, None)

    def _number(self, value: Any) -> int:
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = next(self._next)
        return found


class Maker:
    """Makes calls of operations, with the state from earlier ones.

    Args:
        start: the time of the first call, in microseconds since the epoch.
        deaths: the deaths of files.
        births: the births of files, with their hints.
    """

    def __init__(self, start: int, deaths: Deaths, births: Births) -> None:
        self._start, self._deaths, self._births = start, deaths, births
        self._files, self._clients = Numbers(), Numbers()
        self._streams, self._connections = Numbers(), Numbers()

    def calls(self, batch: pa.RecordBatch) -> dict[str, Ints]:
        """Return the columns of `CALLS` for some operations."""
        op = batch["op"].dictionary_encode() if batch["op"].type == pa.utf8() else batch["op"]
        words = [CLASSES.index(_CLASS_OF.get(word, "other")) for word in op.dictionary.to_pylist()]
        kind = np.array([*words, 0], np.uint8)[_ints(op.indices)]
        replied, has = _ints(batch["reply_time"].cast(pa.int64()), 0), _valid(batch["reply_time"])
        moved = pc.coalesce(batch["reply_count"], batch["count"])
        data = np.isin(kind, [CLASSES.index("read"), CLASSES.index("write")])
        client = self._clients.of(batch["client"])
        user = _ints(batch["uid"], 2**32 - 1).astype(np.int64)
        port = _ints(batch["client_port"]).astype(np.int64)
        columns: dict[str, Any] = {
            "at": ((_ints(batch["time"].cast(pa.int64())) - self._start) * 1000).astype(np.uint64),
            "replied": np.where(has, (replied - self._start) * 1000, 0).astype(np.uint64),
            "stream": self._streams.of_integers(client << 32 | user) - 1,
            "connection": self._connections.of_integers(client << 16 | port),
            "class": kind,
            "file": self._files.of(batch["fh"]),
            "target": self._targets(batch, kind, replied),
            "directory": _directories(batch),
            "hints": np.where(kind == _CREATE, self._births.at(replied), 0),
            "offset": _ints(batch["offset"], 0),
            "bytes": np.where(data, _ints(moved, 0), 0),
            "end": _ends(batch, kind),
            "stable": _ints(batch["stable"], 0),
        }
        columns["replied"][~has] = UNKNOWN
        return _one_a_compound(columns, batch)

    def _targets(self, batch: pa.RecordBatch, kind: Any, replied: Ints) -> Ints:
        """Return the file that each call finds, makes, or removes the last name of."""
        found = self._files.of(batch["new_fh"])
        rows = np.flatnonzero(np.isin(kind, [CLASSES.index("remove"), CLASSES.index("rename")]))
        dying, dead = self._deaths.at(replied[rows])
        found[rows] = 0
        found[rows[dying]] = self._files.of(dead)
        self._files.forget(dead)
        return found


def _directories(batch: pa.RecordBatch) -> Ints:
    """Return whether the file found or made by a name is a directory."""
    found: Ints = (_ints(batch["ftype"], 0) == _DIRECTORY).astype(np.uint8)
    return found


def _ends(batch: pa.RecordBatch, kind: Any) -> Any:
    """Return each file's length afterwards, where the call reports a meaningful one."""
    found = _ints(batch["size"], 0).astype(np.uint64)
    sets = kind == CLASSES.index("setattr")
    found[~np.where(sets, _valid(batch["set_size"]), _valid(batch["size"]))] = UNKNOWN
    found[sets] = np.where(_valid(batch["set_size"]), _ints(batch["set_size"], 0), found)[sets]
    return found


def _valid(column: pa.Array) -> Any:
    return np.asarray(pc.is_valid(column))


def _one_a_compound(columns: dict[str, Ints], batch: pa.RecordBatch) -> dict[str, Ints]:
    """Reduce each compound of version 4 to the operation that classifies it."""
    version = _ints(batch["version"])
    if not (version == 4).any():
        return columns
    xid = _ints(batch["xid"])
    same = (version[1:] == 4) & (xid[1:] == xid[:-1])
    same &= (columns["at"][1:] == columns["at"][:-1]) & (
        columns["stream"][1:] == columns["stream"][:-1]
    )
    starts = np.flatnonzero(np.concatenate([[True], ~same]))
    rank = np.array([_RANK.index(name) for name in CLASSES])[columns["class"]]
    place = np.arange(len(rank))
    chosen = np.maximum.reduceat(rank * len(rank) + place, starts) % len(rank)
    return {name: column[chosen] for name, column in columns.items()}


def _ints(column: pa.Array, null: int | None = None) -> Ints:
    filled = column if null is None else column.fill_null(null)
    values: Ints = filled.to_numpy(zero_copy_only=False)
    return values
