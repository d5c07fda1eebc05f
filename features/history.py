"""Histories: statistics of earlier files that resemble a new one.

Names alone do not show what the same program did with the same names a minute ago. A
:class:`History` keeps running statistics over earlier births, under keys of a create (its name, the
shape of its name, its directory, its caller). Each birth gets the statistics under its keys:
:data:`HISTORY_BYTES` small integers, described by :data:`HISTORY`.

A history is strictly causal. At any time it contains only data that the trace had shown by then:

- Births and outcomes at earlier times count, and at the same time those of births before it. Births
  of one instant are ordered by server, directory, name and handle.
- Whether a life is longer than 1, 5 or 30 s is known at that age, or at its death. The size and use
  of a file are known when it is 5 s old, as of then (the columns ``early_…`` of the files table),
  and at its death, so that a file that dies older counts twice. For a name's file they are known at
  the name's end.
- Outcomes that are still unknown when the input ends are dropped.

Shares are means of the first ten outcomes, and move by a tenth with each further one, because a
program's behaviour changes between its runs. Keys are 64-bit hashes (FNV-1a of their parts,
combined by SplitMix64), the same on every machine. A file handle is assumed to mean one file on all
servers.
"""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import LOOKED_UP, TIME
from birthmark.features.columns import decoded
from birthmark_native import HISTORY_BYTES, HistoryKeeper, fold_shapes

__all__ = ["HISTORY", "HISTORY_BYTES", "MAX_KEYS", "History", "shape"]

KEYS = {
    "dir_name": "of this name in this directory",
    "dir_shape": "of names of this shape in this directory",
    "dir_suffix": "of names with this suffix in this directory",
    "dir": "in this directory",
    "name": "of this name",
    "shape": "of names of this shape",
    "user_suffix": "of names with this suffix, by this user",
    "place_suffix": "of names with this suffix, by this user, in directories with names like this",
    "caller": "by this user at this client",
    "after": "of names of this shape, after a create of the shape that this caller made last",
    "mode_suffix": "of names with this suffix and mode, by this user",
}
"""The keys of statistics. Suffixes and directories' names are folded as by :func:`shape`."""

STATISTICS = {
    "births": "births (L)",
    "share_1s": "share that lived for at most 1 s (S)",
    "share_5s": "share that lived for at most 5 s (S)",
    "share_30s": "share that lived for at most 30 s (S)",
    "share_empty": "share that was empty (S)",
    "share_16k": "share of at most 16 kB (S)",
    "share_64k": "share of at most 64 kB (S)",
    "share_write_only": "share with less than 0.2 reads to a write (S)",
    "share_read": "share that was written, and read after it (S)",
    "since_birth": "milliseconds since the last birth (L)",
    "life": "last known lifespan, milliseconds (L)",
    "size": "last known size, bytes (L)",
    "write_only": "whether the last file with known use was only written: 1 no, 2 yes",
    "since_death": "milliseconds since the last death (L)",
    "known": "number of known outcomes, at most ten, plus one",
    "age": "milliseconds since the first birth (L)",
}
"""The statistics under each key. Byte 0 is unknown. Shares (S) from 0 to 1 map to bytes 1 to 255.
Numbers (L) are logarithmic: 0 maps to 1, 1 to 2, and each doubling adds 4."""

HISTORY = [
    (f"{key}.{statistic}", f"{meaning}, {whose}")
    for key, whose in KEYS.items()
    for statistic, meaning in STATISTICS.items()
]
"""Name and meaning of each byte of a history, in their order."""

MAX_KEYS = 1_000_000

_CREATES = {name: kind for name, kind in LOOKED_UP.items() if name != "time"}
_LIVES = _CREATES | {
    "server": pa.utf8(),
    "fh": pa.large_binary(),
    "dir_named": TIME,
    "born": TIME,
    "died": TIME,
    "observed_until": TIME,
}
_USE = {
    "size": pa.uint64(),
    "reads": pa.uint64(),
    "writes": pa.uint64(),
    "atime": TIME,
    "mtime": TIME,
}
_EARLY = {f"early_{column}": kind for column, kind in _USE.items()}
_OF_FILES = {"size": "max_size"}
_OF_NAMES = {"size": "file_max_size", "writes": "file_writes"}
_NOT_OF_NAMES = ("dir_name", "dir_named", "reads", "atime", "mtime")
_SNAPSHOT = b"birthmark.history"
_VERSION = 1
_CHUNK = 1 << 20


class History:
    """Running statistics over births, by the keys of a create.

    One history follows the lives of one subject, files or names. ``max_keys`` bounds its memory, at
    some 100 bytes each: it evicts the keys with the oldest last birth.
    """

    def __init__(self, max_keys: int = MAX_KEYS) -> None:
        self._keeper = HistoryKeeper(max_keys)

    def __repr__(self) -> str:
        return f"<History of {len(self.to_table()):,} keys>"

    def follow(self, lives: pa.Table, behind: float = 0.0) -> pa.ChunkedArray:
        """Return the history of each row of a files or names table at its birth, and learn it.

        The history is that of ``behind`` seconds before the birth, the lag of a follower behind the
        traffic. The lag also applies to the directory's own name (``dir_named``): a client that
        enters a directory looks it up just before it creates there. Elapsed times still count up to
        the birth.

        The rows may have any order; the result (binary) has the same, and is null unless the row is
        a regular file whose birth was seen. Call it again with the lives of the next period to
        continue.

        Raises ``ValueError``, naming the column, if one is missing or has another type.
        """
        of_names = "file_writes" in lives.column_names
        sources = _OF_NAMES if of_names else _OF_FILES
        columns = {}
        for column, kind in (_LIVES | _USE | ({} if of_names else _EARLY)).items():
            if of_names and column in _NOT_OF_NAMES:
                columns[column] = pa.nulls(len(lives), kind)
            else:
                columns[column] = _column(lives, sources.get(column, column), kind)
        columns["born"] = pc.if_else(_births(lives), columns["born"], pa.scalar(None, TIME))
        return _binary(self._keeper.follow(_batch(columns), round(behind * 1e6)))

    def at(self, creates: pa.Table) -> pa.ChunkedArray:
        """Return the current history of each create (``features.CREATES``); learn nothing.

        A create without a time is at the end of the input so far. Raises ``ValueError``, naming the
        column, if one is missing or has another type.
        """
        columns = {column: _column(creates, column, kind) for column, kind in LOOKED_UP.items()}
        return _binary(self._keeper.at(_batch(columns)))

    @property
    def keeper(self) -> HistoryKeeper:
        """The native state, for live updates (``birthmark_native.LiveHistory``)."""
        return self._keeper

    def to_table(self) -> pa.Table:
        """Return the state as a table, a row per key, in the keys' order."""
        table = pa.Table.from_batches([self._keeper.to_batch()])
        about = {
            "version": _VERSION,
            "bytes": HISTORY_BYTES,
            "max_keys": self._keeper.max_keys,
            "clock": self._keeper.clock,
        }
        return table.replace_schema_metadata({_SNAPSHOT: json.dumps(about)})

    @classmethod
    def from_table(cls, table: pa.Table) -> History:
        """Return the history that :meth:`to_table` wrote.

        Raises ``ValueError``, naming the expected version, if the table is damaged or of another.
        """
        about = _about(table)
        history = cls.__new__(cls)
        batch = _batch({name: table[name] for name in table.column_names})
        history._keeper = HistoryKeeper.from_batch(batch, about["max_keys"], about["clock"])
        return history


def shape(names: pa.Array | pa.ChunkedArray) -> pa.Array:
    """Return the shape of each name (binary): numbers and random words are folded.

    A run of four or more hexadecimal digits with a decimal one among them, and any run of decimal
    digits, becomes ``#``. A word (a longest run of ASCII letters and digits) of six that changes at
    least twice between small letters, capitals and digits, and is not such a number, becomes ``@``:
    the random part of a name by ``mkstemp``.

    >>> shape(pa.array([b"cache1A2B.gif", b"cache93FF.gif", b"mutt.aX3bq9"])).to_pylist()
    [b'cach#.gif', b'cach#.gif', b'mutt.@']
    """
    return fold_shapes(decoded(names).cast(pa.binary()))


def _births(lives: pa.Table) -> pa.Array:
    """Return which rows are regular files whose birth was seen."""
    is_file = pc.fill_null(pc.equal(_column(lives, "kind", pa.utf8()), "file"), False)
    return pc.and_(is_file, _column(lives, "birth_seen", pa.bool_()))


def _column(table: pa.Table, name: str, kind: pa.DataType) -> pa.Array:
    if name not in table.column_names:
        raise ValueError(_missing(table, name))
    try:
        return decoded(table[name]).cast(kind)
    except pa.ArrowException as error:
        raise ValueError(f"column {name!r}: {error} (expected {kind})") from error


def _missing(table: pa.Table, column: str) -> str:
    return f"the table has no column {column!r}: it has {', '.join(table.column_names)}"


def _batch(columns: dict[str, Any]) -> pa.RecordBatch:
    arrays = [c.combine_chunks() if isinstance(c, pa.ChunkedArray) else c for c in columns.values()]
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _binary(histories: pa.Array) -> pa.ChunkedArray:
    """Return histories as binary, in chunks that fit its 32-bit offsets."""
    starts = range(0, len(histories), _CHUNK)
    chunks = [histories.slice(start, _CHUNK).cast(pa.binary()) for start in starts]
    return pa.chunked_array(chunks, pa.binary())


def _about(table: pa.Table) -> dict[str, int]:
    expected = f"a history of version {_VERSION}, of {HISTORY_BYTES} bytes"
    try:
        about = json.loads((table.schema.metadata or {})[_SNAPSHOT])
        version, size = about["version"], about["bytes"]
        numbers = {"max_keys": int(about["max_keys"]), "clock": int(about["clock"])}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the table has no valid description: expected {expected}") from error
    if (version, size) != (_VERSION, HISTORY_BYTES):
        raise ValueError(f"a history of version {version}, of {size} bytes: expected {expected}")
    return numbers
