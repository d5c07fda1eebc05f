"""Live histories for creates that carry none."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import LOOKED_UP, filled
from birthmark.features import CREATES
from birthmark.serving.messages.responses import Live
from birthmark_native import SharedHistory

DIRECTORY_NAMES = {
    "directory_system": pa.large_binary(),
    "directory_inode": pa.uint64(),
    "directory_path": pa.large_binary(),
}
"""Columns that name a directory to the live history alone, besides its handle."""

_LOOKUP_COLUMNS = pa.schema(LOOKED_UP | DIRECTORY_NAMES)
_HISTORIES = ("history", "name_history")


def with_histories(live: SharedHistory | None, requested: pa.Table) -> pa.Table:
    """Return the creates (``features.CREATES``) of a table, with histories from the live history.

    The table may also have the columns ``DIRECTORY_NAMES``. Histories that it carries stay.
    """
    creates = filled(requested, CREATES)
    if live is None or not len(creates):
        return creates
    batch = filled(requested, _LOOKUP_COLUMNS).combine_chunks().to_batches()[0]
    return _fill_histories(creates, live.at(batch))


def freshness(live: SharedHistory) -> Live:
    """Return the freshness of a live history, as answers have it."""
    status = live.status()
    if status["why"] is not None:
        return {"age": None, "lag": None, "why": status["why"]}
    return {"age": round(status["age"], 3), "lag": round(status["lag"], 3), "why": None}


def _fill_histories(creates: pa.Table, histories: Any) -> pa.Table:
    has_history = creates["history"].is_valid()
    for name in _HISTORIES:
        column = pc.if_else(has_history, creates[name], histories[name].cast(pa.binary()))
        index = creates.schema.get_field_index(name)
        creates = creates.set_column(index, creates.schema.field(index), column)
    return creates
