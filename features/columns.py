"""Columns in the form for models: plain values, and names as bytes."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt


def decoded(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return ``column`` as one array of plain values, without dictionary encoding."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pt.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return column


def names_of(table: pa.Table) -> pa.BinaryArray:
    """Return the file names of ``table``: its column ``name``, or else the first.

    Text is encoded as UTF-8, a number as its digits. Raises ``TypeError`` for anything else.
    """
    name = "name" if "name" in table.column_names else table.column_names[0]
    column = decoded(table[name])
    if pt.is_integer(column.type) or pt.is_floating(column.type):
        column = column.cast(pa.utf8())
    try:
        return column.cast(pa.binary())
    except pa.ArrowNotImplementedError as error:
        raise TypeError(f"column {name!r} must hold names, not {column.type}") from error
