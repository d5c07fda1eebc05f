"""How much is told to a create of earlier files like it, by what is known of the create.

Who asks about a create may know its directory, or only who makes it, or neither; and nothing is
told where nobody follows the traffic. A history shows which it is: under a key that a create shows
something is told even where nothing was born under it yet (``features.history.STATISTICS``,
``known``).
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Bytes
from birthmark.features.columns import decoded
from birthmark.features.history import HISTORY_BYTES, KEYS, STATISTICS
from birthmark_native import BM_TELLS_CALLER, BM_TELLS_DIRECTORY, BM_TELLS_NAME

Told = Literal["directory", "caller", "name", "nothing"]
"""What is told is of earlier files: in this directory, too; by this user; of this name; of none."""

TOLD: tuple[Told, ...] = get_args(Told)
"""From most to least."""

_PER_KEY = len(STATISTICS)
_OF_DIRECTORIES = ("dir_name", "dir_shape", "dir_suffix", "dir", "place_suffix")
_OF_CALLERS = ("user_suffix", "caller", "after", "mode_suffix")
_UNTOLD: dict[Told, tuple[str, ...]] = {
    "directory": (),
    "caller": _OF_DIRECTORIES,
    "name": (*_OF_DIRECTORIES, *_OF_CALLERS),
    "nothing": tuple(KEYS),
}
"""The keys under which less is told than could be."""

_UNKNOWN: dict[Told, tuple[str, ...]] = {
    "directory": (),
    "caller": (),
    "name": ("uid", "gid", "client"),
    "nothing": ("client",),
}
"""What an asker to whom so little is told does not know, or may not."""


def told_of(creates: pa.Table) -> Bytes:
    """Return for each row of ``features.CREATES`` the place in ``TOLD`` of what is told of it.

    More than its name is told of a create only where its user is known, who most of it is about.
    """
    history = history_bytes(creates["history"])
    name, user, directory = (
        history[:, byte] > 0 for byte in (BM_TELLS_NAME, BM_TELLS_CALLER, BM_TELLS_DIRECTORY)
    )
    places = np.full(len(creates), TOLD.index("nothing"), dtype=np.uint8)
    places[name] = TOLD.index("name")
    places[name & user] = TOLD.index("caller")
    places[name & user & directory] = TOLD.index("directory")
    return places


def forgotten(creates: pa.Table, told: Told) -> pa.Table:
    """Return ``creates`` as one asks about them to whom no more than ``told`` is told."""
    rows = history_bytes(creates["history"]).copy()
    rows[:, untold(told)] = 0
    columns: dict[str, pa.Array] = {}
    if told != "directory":
        columns = {name: _nulls(creates, name) for name in ("dir_fh", "dir_name")}
    columns |= {name: _nulls(creates, name) for name in _UNKNOWN[told]}
    columns["history"] = _as_binary(rows)
    for name, column in columns.items():
        place = creates.schema.get_field_index(name)
        if place >= 0:
            creates = creates.set_column(place, creates.schema.field(place), column)
    return creates


def untold(told: Told) -> Bools:
    """Return which bytes of a history are not told."""
    return np.repeat([key in _UNTOLD[told] for key in KEYS], _PER_KEY)


def unknown(told: Told) -> tuple[str, ...]:
    """Return the columns of ``features.CREATES``, its directory's apart, that are not known."""
    return _UNKNOWN[told]


def history_bytes(column: pa.ChunkedArray) -> Bytes:
    """Return histories as rows of bytes, all zero where one is null.

    Raises ``ValueError`` where one is not as long as it should be.
    """
    known = decoded(column).cast(pa.binary())
    lengths = pc.unique(pc.binary_length(known.drop_null())).to_pylist()
    if lengths not in ([], [HISTORY_BYTES]):
        raise ValueError(f"history: expected {HISTORY_BYTES} bytes, found {max(lengths)} in a row")
    every = pc.fill_null(known, bytes(HISTORY_BYTES)).cast(pa.binary(HISTORY_BYTES))
    flat = np.frombuffer(every.buffers()[1], dtype=np.uint8)
    return flat[every.offset * HISTORY_BYTES :][: len(every) * HISTORY_BYTES].reshape(
        -1, HISTORY_BYTES
    )


def _nulls(creates: pa.Table, name: str) -> pa.Array:
    return pa.nulls(len(creates), creates.schema.field(name).type)


def _as_binary(rows: Bytes) -> pa.Array:
    """Return rows of bytes, null where nothing is told."""
    told = pa.array(np.ascontiguousarray(rows).ravel())
    whole = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(HISTORY_BYTES), len(rows), [None, told.buffers()[1]]
    )
    return pc.if_else(pa.array(rows.any(axis=1)), whole.cast(pa.binary()), None)
