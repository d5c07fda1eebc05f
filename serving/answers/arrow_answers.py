"""Many files at once, as Arrow: a stream of creates in, a stream of answers out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import FIRST_US, LAST_US
from birthmark.features import CREATES, HISTORY_BYTES
from birthmark.predictor.answers.certainty import WORDS
from birthmark.serving.answers.arrow_messages import refuse_compressed
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.messages.requests import MANY, NAME_BYTES
from birthmark.serving.models.loaded import LoadedModel

MEDIA_TYPE = b"application/vnd.apache.arrow.stream"
"""Of a stream in Arrow's IPC format."""

_COLUMNS = {
    {"dir_name": "directory"}.get(name, name): CREATES.field(name)
    for name in ("name", "mode", "uid", "gid", "client", "time", "dir_name", "history")
}
_BYTES = (pa.types.is_binary, pa.types.is_large_binary)
_TEXT = (pa.types.is_string, pa.types.is_large_string)
_NUMBER = (pa.types.is_integer, pa.types.is_null)
# Those alone that are no larger once they are cast: a dictionary's text may stand in every row.
_TYPES: dict[str, tuple[Callable[[pa.DataType], bool], ...]] = {
    "name": (*_BYTES, *_TEXT),
    **dict.fromkeys(("mode", "uid", "gid"), _NUMBER),
    "client": (*_TEXT, pa.types.is_null),
    "time": (pa.types.is_timestamp, pa.types.is_null),
    "directory": (*_BYTES, *_TEXT, pa.types.is_null),
    "history": (*_BYTES, pa.types.is_null),
}
_MODES = 0o7777
_CLIENT = 255


def are_meant(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request's headers say that its body is such a stream."""
    for name, value in headers:
        if name == b"content-type":
            return value.partition(b";")[0].strip().lower() == MEDIA_TYPE
    return False


def answer(model: LoadedModel, body: bytes, three: bool = False) -> tuple[bytes, pa.Table]:
    """Return a stream of what the model answers to one, a boolean column for each predicate.

    With the `three` answers, each has two columns more: ``KEY answer`` (a dictionary of yes, no and
    unsure) and ``KEY probability``. The rows stay in their order. The table is the creates that
    were asked about. Raises `ApiError` for what is no stream of such columns.
    """
    asked = creates(body)
    columns: dict[str, Any] = dict(model.answers(asked))
    if three:
        for key, said in model.said(asked).items():
            columns[f"{key} answer"] = pa.DictionaryArray.from_arrays(said.words, WORDS)
            columns[f"{key} probability"] = said.probabilities
    told = {"model": model.version, "kind": model.kind, "point": model.point}
    table = pa.table(columns).replace_schema_metadata(told)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written, asked


def creates(body: bytes) -> pa.Table:
    """Return the creates (``features.CREATES``) that a stream of requests is about."""
    asked = _read(body)
    unknown = pa.nulls(len(asked))
    known = {field.name: _cast(asked, name, field) for name, field in _COLUMNS.items()}
    columns = [known.get(f.name, unknown.cast(f.type)) for f in CREATES]
    table = pa.table(columns, schema=CREATES)
    _check_values(table)
    return table


def _read(body: bytes) -> pa.Table:
    try:
        with pa.ipc.open_stream(body) as reader:
            _check_columns(reader.schema)
            refuse_compressed(body)
            batches, rows = [], 0
            for batch in reader:
                rows += len(batch)
                if rows > MANY:
                    _refuse(f"expected at most {MANY} rows", None)
                batch.validate(full=True)
                batches.append(batch)
            return pa.Table.from_batches(batches, reader.schema)
    except (pa.ArrowException, OSError, ValueError) as error:
        what = f"expected an uncompressed stream in Arrow's IPC format: {error}"
        raise ApiError("invalid_arrow", what) from error


def _check_columns(schema: pa.Schema) -> None:
    for name, found in zip(schema.names, schema.types, strict=True):
        if name not in _COLUMNS or schema.names.count(name) > 1:
            _refuse(f"expected the columns {', '.join(_COLUMNS)}, each at most once", name)
        if not any(is_type(found) for is_type in _TYPES[name]):
            _refuse(f"expected {_COLUMNS[name].type}, found {found}", name)
        if name == "time" and found != pa.null() and found.tz is None:
            _refuse(f"expected times with a time zone, found {found}", name)
    if "name" not in schema.names:
        _refuse("expected a column of names", "name")


def _cast(asked: pa.Table, name: str, wanted: pa.Field) -> pa.Array:
    if name not in asked.column_names:
        return pa.nulls(len(asked), wanted.type)
    try:
        return asked[name].cast(wanted.type).combine_chunks()
    except pa.ArrowException as error:
        _refuse(f"expected {wanted.type}: {error}", name)


def _check_values(creates: pa.Table) -> None:
    """Refuse values that a request in JSON could not have, either."""
    if creates["name"].null_count:
        _refuse("expected a name in every row", "name")
    for column, member in (("name", "name"), ("dir_name", "directory")):
        names, size = creates[column], pc.binary_length(creates[column])
        _require(
            pc.and_(pc.greater(size, 0), pc.less_equal(size, NAME_BYTES)),
            member,
            f"1 to {NAME_BYTES} bytes",
        )
        for forbidden in (b"/", b"\0"):
            found = pc.match_substring(names, forbidden)
            _require(pc.invert(found), member, "a name in its directory, without / and NUL")
    micros = creates["time"].cast(pa.int64())
    dated = pc.and_(pc.greater_equal(micros, FIRST_US), pc.less_equal(micros, LAST_US))
    _require(dated, "time", "a time of the years 1 to 9999 UTC")
    _require(pc.less_equal(creates["mode"], _MODES), "mode", f"at most {_MODES}")
    size = pc.utf8_length(creates["client"])
    fits = pc.and_(pc.greater(size, 0), pc.less_equal(size, _CLIENT))
    _require(fits, "client", f"1 to {_CLIENT} characters")
    size = pc.binary_length(creates["history"])
    _require(pc.equal(size, HISTORY_BYTES), "history", f"{HISTORY_BYTES} bytes")


def _require(holds: Any, member: str, what: str) -> None:
    row = pc.index(holds, False).as_py()
    if row >= 0:
        _refuse(f"expected {what}", f"[{row}].{member}")


def _refuse(what: str, field: str | None) -> NoReturn:
    raise ApiError("invalid_request", what, field=field)
