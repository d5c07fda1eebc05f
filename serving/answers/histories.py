"""What the live history tells of creates whose askers do not tell what was seen before them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import LOOKED_UP, filled
from birthmark.features import CREATES
from birthmark.serving.messages.responses import Live
from birthmark_native import HISTORY_BYTES, SharedHistory

PLACES = {
    "directory_system": pa.large_binary(),
    "directory_inode": pa.uint64(),
    "directory_path": pa.large_binary(),
}
"""What names a directory, besides its handle, to the live history alone."""

_ASKED = pa.schema(LOOKED_UP | PLACES)
_HISTORIES = ("history", "name_history")
_BOTH = len(_HISTORIES) * HISTORY_BYTES


def with_histories(live: SharedHistory | None, asked: pa.Table) -> pa.Table:
    """Return the creates (``features.CREATES``) that a table asks about, told what was seen before.

    It has columns of these, and may have those of ``PLACES``. An asker who tells what was seen
    before is believed.
    """
    creates = filled(asked, CREATES)
    if live is None or not len(creates):
        return creates
    batch = filled(asked, _ASKED).combine_chunks().to_batches()[0]
    return _told(creates, live.at(batch))


def freshness(live: SharedHistory) -> Live:
    """Return how fresh a live history is, for answers."""
    status = live.status()
    if status["why"] is not None:
        return {"age": None, "lag": None, "why": status["why"]}
    return {"age": round(status["age"], 3), "lag": round(status["lag"], 3), "why": None}


def as_they_were(asked: pa.Table, seen: bytes) -> pa.Table:
    """Return a table of creates as they were told of when they were answered.

    ``seen`` is what ``Answerer.json`` returned of them: nothing, or the two histories of each row,
    zeros where it was told none.
    """
    if not seen:
        return asked
    rows = [seen[at : at + _BOTH] for at in range(0, len(seen), _BOTH)]
    halves = {
        "history": [row[:HISTORY_BYTES] if any(row) else None for row in rows],
        "name_history": [row[HISTORY_BYTES:] if any(row) else None for row in rows],
    }
    told = {name: pa.array(values, pa.binary()) for name, values in halves.items()}
    return _told(asked, told)


def _told(creates: pa.Table, told: Any) -> pa.Table:
    own = creates["history"].is_valid()
    for name in _HISTORIES:
        column = pc.if_else(own, creates[name], told[name].cast(pa.binary()))
        place = creates.schema.get_field_index(name)
        creates = creates.set_column(place, creates.schema.field(place), column)
    return creates
