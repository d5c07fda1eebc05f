"""Encoding of creates as rows of bytes, for forests.

A row is, in this order:

1. the bytes of ``history`` (``features.history.HISTORY``), all zero where it is null;
2. the numbers of the name (``NUMBERS``), a null name being an empty one;
3. a code for each of ``CODED``: 2, 3, … for the values that were frequent in training, the most
   frequent first; ``NULL`` for null; ``UNSEEN`` for any other value, rare or new;
4. the hour of ``time``, UTC; 24 where it is null.

Everything is integer arithmetic on bytes, the same in every language:

- A coded value is a number of 32 bits: ``mode``, ``uid`` and ``gid`` themselves; the FNV-1a hash of
  the text of ``client``, of the name's ``shape``, in which numbers and random words are folded
  (``native/learn/src/history``), and of the ``suffix``, the shape from its last period on (0
  without one).
- FNV-1a: begin with 0x811c9dc5; for each byte, exclusive-or it, then multiply by 0x01000193,
  modulo 2**32 (Fowler, Noll and Vo; RFC 9923).
- Counts and lengths above 255 are 255. Letters and digits are those of ASCII.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.arrays import Bools, Bytes
from birthmark.data.schema import WORD, field
from birthmark.features.columns import decoded
from birthmark.features.history import HISTORY, HISTORY_BYTES
from birthmark.features.history_scope import (
    HistoryScope,
    history_bytes,
    masked_bytes,
    unknown_columns,
)
from birthmark_native import encode_names, fnv1a

NUMBERS = {
    "length": "bytes of the name",
    "periods": "periods in it",
    "digits": "digits in it",
    "capitals": "capital letters in it",
    "signs": "bytes that are no letter, digit or period",
    "digit run": "longest run of digits",
    "hex run": "longest run of hexadecimal digits",
    "suffix length": "bytes from the last period on; 0 without one",
    "first byte": "first byte; 0 of an empty name",
    "last byte": "last byte; 0 of an empty name",
    "random word": "1 if a word of the name is random (native/learn/src/history/shape.rs), else 0",
}
"""The numbers of a name."""

CODED = ("mode", "uid", "gid", "client", "shape", "suffix")
"""The attributes that are coded."""

COLUMNS = (*(name for name, _ in HISTORY), *NUMBERS, *CODED, "hour")
"""The names of the bytes of a row."""

UNSEEN, NULL, FIRST = 0, 1, 2
"""The codes of a value that is not in the table, of null, and of the most frequent value."""

FREQUENT = 8
"""Least number of training rows for a value to get a code."""

CODES = pa.schema(
    [
        field("attribute", WORD, "which of CODED", nullable=False),
        field("value", pa.uint32(), "value or hash", nullable=False),
        field("code", pa.uint8(), "its code", nullable=False),
    ]
)
"""The tables of codes, attribute by attribute, by code."""


class Encoding:
    """The encoding of creates as rows of bytes; ``values`` are coded 2, 3, …, by attribute."""

    def __init__(self, values: Mapping[str, pa.UInt32Array]) -> None:
        self.values = {attribute: values[attribute] for attribute in CODED}

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(values)} of {name}" for name, values in self.values.items())
        return f"<Encoding of creates, codes: {counts}>"

    @classmethod
    def learn(cls, creates: pa.Table) -> Self:
        """Return the encoding with codes for the frequent values in ``creates``."""
        _, keys = _read(creates)
        return cls({attribute: _frequent(keys[attribute]) for attribute in CODED})

    def transform(self, creates: pa.Table) -> Bytes:
        """Return ``creates`` (columns of ``features.CREATES``) as rows of ``COLUMNS``.

        Raises ``ValueError`` if a history has the wrong length.
        """
        numbers, keys = _read(creates)
        codes = [self._codes(attribute, keys[attribute]) for attribute in CODED]
        hour = pc.fill_null(pc.hour(creates["time"]), 24).to_numpy().astype(np.uint8)
        return np.column_stack([history_bytes(creates["history"]), numbers, *codes, hour])

    def to_table(self) -> pa.Table:
        """Return the codes as a table of ``CODES``."""
        tables = [CODES.empty_table()]
        for attribute, values in self.values.items():
            name = pa.array([attribute] * len(values), pa.utf8()).dictionary_encode().cast(WORD)
            code = np.arange(FIRST, FIRST + len(values), dtype=np.uint8)
            tables.append(pa.table([name, values, code], schema=CODES))
        return pa.concat_tables(tables)

    @classmethod
    def from_table(cls, table: pa.Table) -> Self:
        """Read what ``to_table`` wrote; raise ``ValueError`` if it is invalid."""
        values = {}
        for attribute in CODED:
            rows = table.filter(pc.equal(table["attribute"], attribute))
            code, value = rows["code"].to_numpy(), decoded(rows["value"])
            if not np.array_equal(code, np.arange(FIRST, FIRST + len(rows))):
                raise ValueError(f"the codes of {attribute} are not {FIRST}, {FIRST + 1}, …")
            if len(value.unique()) < len(value):
                raise ValueError(f"a value of {attribute} has two codes")
            values[attribute] = value
        return cls(values)

    def _codes(self, attribute: str, keys: pa.UInt32Array) -> Bytes:
        place = pc.index_in(keys, value_set=self.values[attribute])
        codes = pc.if_else(keys.is_valid(), pc.fill_null(pc.add(place, FIRST), UNSEEN), NULL)
        return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.uint8)


def mask_rows(rows: Bytes, scope: HistoryScope, still_known: Bools | None = None) -> None:
    """Mask in ``rows`` all history above ``scope`` (``features.history_scope``).

    The attributes that may be unknown at the scope become null, except in the rows of the mask
    ``still_known``.
    """
    rows[:, :HISTORY_BYTES][:, masked_bytes(scope)] = 0
    lacking = slice(None) if still_known is None else ~still_known
    for column in unknown_columns(scope):
        rows[lacking, COLUMNS.index(column)] = NULL


def mask_attributes(rows: Bytes, selected: Bools) -> None:
    """Mask in the selected ``rows`` all attributes except those of the name."""
    for column in CODED:
        if column not in ("shape", "suffix"):  # these are of the name
            rows[selected, COLUMNS.index(column)] = NULL


def _read(creates: pa.Table) -> tuple[Bytes, dict[str, pa.UInt32Array]]:
    """Return the numbers of the names, and the values or hashes of each attribute in ``CODED``."""
    numbers, hashes = encode_names(decoded(creates["name"]).cast(pa.binary()))
    keys = {attribute: hashes[attribute] for attribute in ("shape", "suffix")}
    keys |= {c: decoded(creates[c]).cast(pa.uint32()) for c in ("mode", "uid", "gid")}
    client = decoded(creates["client"]).cast(pa.utf8()).dictionary_encode()
    hosts = [fnv1a(host.encode()) for host in client.dictionary.to_pylist()]
    keys["client"] = pa.array(hosts, pa.uint32()).take(client.indices)
    return np.asarray(numbers).reshape(-1, len(NUMBERS)), keys


def _frequent(keys: pa.UInt32Array) -> pa.UInt32Array:
    """Return the values that get a code, most frequent first, ties by value."""
    counts: Any = pc.value_counts(keys.drop_null())
    values, n = (counts.field(name).to_numpy() for name in ("values", "counts"))
    values, n = values[n >= FREQUENT], n[n >= FREQUENT]
    order = np.lexsort((values, -n))[: 256 - FIRST]
    return pa.array(values[order], pa.uint32())
