"""Names as text next to their bytes, for tools that show tables or compute with text."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.visible import visible

TEXTS = (
    *("name", "dir_name", "name2", "target", "machine", "tag", "xattr"),
    *("owner_name", "group_name", "set_owner_name", "set_group_name"),
)
"""The columns of bytes chosen by people: names of files, hosts, owners."""

SUFFIX = "_text"
"""The suffix of a text column's name."""


def with_text(table: pa.Table) -> pa.Table:
    r"""Return ``table`` with a column of text behind each of its columns in ``TEXTS``.

    A name is bytes of no certain encoding. Bytes that are not UTF-8 become ``\xff``, and
    unprintable characters become escapes (``data.common.visible``). Two names may have the same
    text; their bytes differ.
    """
    for name in TEXTS:
        if name in table.column_names and name + SUFFIX not in table.column_names:
            place = table.column_names.index(name) + 1
            table = table.add_column(place, name + SUFFIX, _as_text(table[name]))
    return table


def as_text(table: pa.Table) -> pa.Table:
    r"""Return ``table`` without columns of bytes: names as `with_text` writes them, others in hex.

    For CSV and other text, where Python would write ``b'…'``.
    """
    for place, column in enumerate(table.schema):
        if pa.types.is_binary(column.type):
            values = table[column.name]
            text = _as_text(values) if column.name in TEXTS else _in_hex(values)
            table = table.set_column(place, column.name, text)
    return table


def _in_hex(column: pa.ChunkedArray) -> pa.Array:
    values = (None if value is None else value.hex() for value in column.to_pylist())
    return pa.array(values, pa.utf8())


def _as_text(column: pa.ChunkedArray) -> pa.Array:
    names = pc.dictionary_encode(column.combine_chunks())
    texts = [
        visible(name.decode("utf-8", "surrogateescape")) for name in names.dictionary.to_pylist()
    ]
    return pa.array(texts, pa.utf8()).take(names.indices)
