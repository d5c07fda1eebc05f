"""The creates table: only the data known about a file at the moment of its create.

The same code makes it from the files or names table for training, and from requests to the service
for prediction: so training and prediction have the same columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import TIME, field, filled
from birthmark_native import HISTORY_BYTES, MEMBERS

if TYPE_CHECKING:  # only the type is needed
    from birthmark.features.history import History

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
"""One row per create, with the columns of ``native/contract``. Unknown values are null."""

_SOURCES = {"time": "born"}


def from_files(files: pa.Table, history: History | None = None) -> pa.Table:
    """Return the creates of a files table (``data.schema.FILES``), row by row.

    ``history`` follows the lives, and adds to each create the history before it: pass ``History()``
    for a first table, and the same object for the next. Without it the column ``history`` is
    null, unless the table has that column already, and models answer without history.
    """
    return _of_lives(_with_history(files, history), CREATES.names)


def from_names(names: pa.Table, history: History | None = None) -> pa.Table:
    """Return the creates of a names table (``data.schema.NAMES``), row by row.

    That table has neither the directory's name nor the file's group: both are null. For ``history``
    see ``from_files``.
    """
    names = _with_history(names, history)
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
    """Return the creates of requests to a service.

    Each request maps columns of ``CREATES`` to their values; ``name`` (bytes, or text as UTF-8)
    is required. Raises ``ValueError``, naming the request by its index, for a request without a
    name or with an unknown key, a value of the wrong type, or a ``history`` of another length than
    ``HISTORY_BYTES``.
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
        for history in filter(None, map(request.get, ("history", "name_history"))):
            if not (isinstance(history, bytes) and len(history) == HISTORY_BYTES):
                raise ValueError(f"request {index}: history: expected {HISTORY_BYTES} bytes")
    return _creates({name: [r.get(name) for r in requests] for name in CREATES.names})


def of_names(creates: pa.Table) -> pa.Table:
    """Return ``creates`` for predicates about names: with ``name_history`` as ``history``.

    ``history`` stays where ``name_history`` is null.
    """
    place = creates.schema.get_field_index("history")
    history = pc.coalesce(creates["name_history"], creates["history"])
    return creates.set_column(place, creates.schema.field(place), history)


def _with_history(lives: pa.Table, history: History | None) -> pa.Table:
    if history is None:
        return lives
    if "history" in lives.column_names:
        raise ValueError("history: expected none, because the table has that column")
    return lives.append_column("history", history.follow(lives))


def _of_lives(lives: pa.Table, known: Iterable[str]) -> pa.Table:
    missing = {"history", "name_history"} - set(lives.column_names)
    return _creates({c: lives[_SOURCES.get(c, c)] for c in known if c not in missing})


def _creates(columns: Mapping[str, Any]) -> pa.Table:
    typed = {name: _column(values, CREATES.field(name)) for name, values in columns.items()}
    return filled(pa.table(typed), CREATES)


def _column(values: Any, wanted: pa.Field) -> pa.Array | pa.ChunkedArray:
    try:
        if isinstance(values, list):
            return pa.array(values, wanted.type)
        return values.cast(wanted.type)
    except (pa.ArrowException, OverflowError, TypeError) as error:
        raise ValueError(f"{wanted.name}: {error} (expected {wanted.type})") from error
