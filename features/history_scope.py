"""Scope of the history available for a create: directory, caller, name or nothing.

A client may know a create's directory, or only its caller, or neither; and there is no history if
nothing follows the traffic. The history itself shows its scope: ``known`` is above 0 under every
key of the create, even without a birth (``features.history.STATISTICS``).
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Bytes
from birthmark.features.columns import decoded
from birthmark.features.history import HISTORY_BYTES, KEYS, STATISTICS
from birthmark.features.scopes import HISTORY_SCOPES as HISTORY_SCOPES
from birthmark.features.scopes import HistoryScope as HistoryScope
from birthmark_native import BM_TELLS_CALLER, BM_TELLS_DIRECTORY, BM_TELLS_NAME

_PER_KEY = len(STATISTICS)
_OF_DIRECTORIES = ("dir_name", "dir_shape", "dir_suffix", "dir", "place_suffix")
_OF_CALLERS = ("user_suffix", "caller", "after", "mode_suffix")
_MASKED_KEYS: dict[HistoryScope, tuple[str, ...]] = {
    "directory": (),
    "caller": _OF_DIRECTORIES,
    "name": (*_OF_DIRECTORIES, *_OF_CALLERS),
    "nothing": tuple(KEYS),
}
"""The keys masked at each scope."""

_UNKNOWN: dict[HistoryScope, tuple[str, ...]] = {
    "directory": (),
    "caller": (),
    "name": ("uid", "gid", "client"),
    "nothing": ("client",),
}
"""Columns unavailable (or withheld) at each scope."""


def history_scopes(creates: pa.Table) -> Bytes:
    """Return for each row of ``features.CREATES`` the index of its scope in ``HISTORY_SCOPES``.

    Caller or directory history counts only if the caller is known, because most of it is per
    caller.
    """
    history = history_bytes(creates["history"])
    name, user, directory = (
        history[:, byte] > 0 for byte in (BM_TELLS_NAME, BM_TELLS_CALLER, BM_TELLS_DIRECTORY)
    )
    places = np.full(len(creates), HISTORY_SCOPES.index("nothing"), dtype=np.uint8)
    places[name] = HISTORY_SCOPES.index("name")
    places[name & user] = HISTORY_SCOPES.index("caller")
    places[name & user & directory] = HISTORY_SCOPES.index("directory")
    return places


def mask_history(creates: pa.Table, scope: HistoryScope) -> pa.Table:
    """Return ``creates`` with all history above ``scope`` masked."""
    rows = history_bytes(creates["history"]).copy()
    rows[:, masked_bytes(scope)] = 0
    columns: dict[str, pa.Array] = {}
    if scope != "directory":
        columns = {name: _nulls(creates, name) for name in ("dir_fh", "dir_name")}
    columns |= {name: _nulls(creates, name) for name in _UNKNOWN[scope]}
    columns["history"] = _as_binary(rows)
    for name, column in columns.items():
        place = creates.schema.get_field_index(name)
        if place >= 0:
            creates = creates.set_column(place, creates.schema.field(place), column)
    return creates


def masked_bytes(scope: HistoryScope) -> Bools:
    """Return which bytes of a history are masked at ``scope``."""
    return np.repeat([key in _MASKED_KEYS[scope] for key in KEYS], _PER_KEY)


def unknown_columns(scope: HistoryScope) -> tuple[str, ...]:
    """Return the columns unknown at ``scope``, apart from the directory's."""
    return _UNKNOWN[scope]


def history_bytes(column: pa.ChunkedArray) -> Bytes:
    """Return histories as rows of bytes, all zero where one is null.

    Raises ``ValueError`` if one has the wrong length.
    """
    histories = decoded(column).cast(pa.binary())
    lengths = pc.unique(pc.binary_length(histories.drop_null())).to_pylist()
    if lengths not in ([], [HISTORY_BYTES]):
        raise ValueError(f"history: expected {HISTORY_BYTES} bytes, found {max(lengths)} in a row")
    fixed = pc.fill_null(histories, bytes(HISTORY_BYTES)).cast(pa.binary(HISTORY_BYTES))
    flat = np.frombuffer(fixed.buffers()[1], dtype=np.uint8)[fixed.offset * HISTORY_BYTES :]
    return flat[: len(fixed) * HISTORY_BYTES].reshape(-1, HISTORY_BYTES)


def _nulls(creates: pa.Table, name: str) -> pa.Array:
    return pa.nulls(len(creates), creates.schema.field(name).type)


def _as_binary(rows: Bytes) -> pa.Array:
    """Return rows of bytes as histories, null where all bytes are zero."""
    flat = pa.array(np.ascontiguousarray(rows).ravel())
    whole = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(HISTORY_BYTES), len(rows), [None, flat.buffers()[1]]
    )
    return pc.if_else(pa.array(rows.any(axis=1)), whole.cast(pa.binary()), None)
