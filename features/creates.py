"""The creates table: what is known of a file at the moment it is created, and nothing else.

It is made of the files or names table for training, and of requests to the service for
prediction, by the same code: a model never sees a column in one that it lacks in the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import TIME, field, filled
from birthmark_native import HISTORY_BYTES, MEMBERS

_TYPES = {
    "name": pa.binary(),
    "opaque": pa.binary(),
    "bytes": pa.binary(),
    "number": pa.uint32(),
    "text": pa.utf8(),
    "time": TIME,
}
CREATES = pa.schema(
    [
        field(member.column, _TYPES[member.kind], member.meaning)
        for member in MEMBERS
        if member.column is not None
    ]
)
"""One row per create: the columns that ``native/contract`` declares. What is not known is null."""

_SOURCES = {"time": "born"}


def from_files(files: pa.Table) -> pa.Table:
    """Return the creates of a files table (``data.schema.FILES``), row by row.

    Their history is that of a further column ``history`` (``History.follow``), where it has one.
    """
    return _of_lives(files, CREATES.names)


def from_names(names: pa.Table) -> pa.Table:
    """Return the creates of a names table (``data.schema.NAMES``), row by row.

    That table knows neither the directory's own name nor the file's group: both are null. Their
    history is that of a further column ``history`` (``History.follow``), where it has one.
    """
    return _of_lives(names, [c for c in CREATES.names if c not in ("dir_name", "group")])


def from_directories(directories: pa.Table) -> pa.Table:
    """Return the creates of a directories table (``features.DIRECTORIES``), row by row.

    A directory's creator is its owner where its birth was not seen.
    """
    known = {
        "dir_fh": directories["parent_fh"],
        "dir_name": directories["parent_name"],
        "uid": pc.coalesce(directories["uid"], directories["owner"]),
        "time": directories["born"],
    }
    known |= {c: directories[c] for c in ("name", "mode", "gid", "group", "client")}
    return _creates(known)


def from_requests(requests: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return the creates that a service is asked about.

    Each request maps columns of ``CREATES`` to their values; ``name`` (bytes, or text as UTF-8)
    is required. Raises ``ValueError``, naming the request by its index, for a request without a
    name or with a key that is not known at create, and for a value of the wrong type or a
    ``history`` of another length than ``HISTORY_BYTES``.
    """
    for index, request in enumerate(requests):
        if request.get("name") is None:
            raise ValueError(f"request {index} has no name")
        unknown = sorted(set(request) - set(CREATES.names))
        if unknown:
            raise ValueError(
                f"request {index} has {unknown[0]!r}, which is not known at create: "
                f"expected {', '.join(CREATES.names)}"
            )
        for told in filter(None, map(request.get, ("history", "name_history"))):
            if not (isinstance(told, bytes) and len(told) == HISTORY_BYTES):
                raise ValueError(f"request {index} has no history of {HISTORY_BYTES} bytes")
    return _creates({name: [r.get(name) for r in requests] for name in CREATES.names})


def of_names(creates: pa.Table) -> pa.Table:
    """Return ``creates`` as predicates about names see them: with what was seen of names.

    Where that is not told, ``history`` stands for it.
    """
    place = creates.schema.get_field_index("history")
    told = pc.coalesce(creates["name_history"], creates["history"])
    return creates.set_column(place, creates.schema.field(place), told)


def _of_lives(lives: pa.Table, known: Iterable[str]) -> pa.Table:
    untold = {"history", "name_history"} - set(lives.column_names)
    return _creates({c: lives[_SOURCES.get(c, c)] for c in known if c not in untold})


def _creates(columns: Mapping[str, Any]) -> pa.Table:
    known = {name: _column(values, CREATES.field(name)) for name, values in columns.items()}
    return filled(pa.table(known), CREATES)


def _column(values: Any, wanted: pa.Field) -> pa.Array | pa.ChunkedArray:
    try:
        if isinstance(values, list):
            return pa.array(values, wanted.type)
        return values.cast(wanted.type)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise ValueError(f"{wanted.name}: {error} (expected {wanted.type})") from error
