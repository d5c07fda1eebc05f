"""Names as text beside their bytes, for tools that show tables or compute with text."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.visible import visible

TEXTS = (
    *("name", "dir_name", "name2", "target", "machine", "tag", "xattr"),
    *("owner_name", "group_name", "set_owner_name", "set_group_name"),
)
"""The columns of bytes that people chose: names of files, hosts, owners."""

SUFFIX = "_text"
"""What a column of text is called more than that of its bytes."""


def with_text(table: pa.Table) -> pa.Table:
    r"""Return ``table`` with a column of text behind each of its columns in ``TEXTS``.

    A name is bytes, of no certain encoding: what is no UTF-8 is written as ``\xff``, and what does
    not print as in a Python string (``data.common.visible``). Two names may have one text; the
    bytes tell them apart.
    """
    for name in TEXTS:
        if name in table.column_names and name + SUFFIX not in table.column_names:
            place = table.column_names.index(name) + 1
            table = table.add_column(place, name + SUFFIX, _as_text(table[name]))
    return table


def _as_text(column: pa.ChunkedArray) -> pa.Array:
    names = pc.dictionary_encode(column.combine_chunks())
    texts = [
        visible(name.decode("utf-8", "surrogateescape")) for name in names.dictionary.to_pylist()
    ]
    return pa.array(texts, pa.utf8()).take(names.indices)
