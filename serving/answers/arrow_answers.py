"""Predictions for many files at once, as Arrow streams."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import FIRST_US, LAST_US, filled
from birthmark.features import CREATES
from birthmark.features.history_scope import HISTORY_SCOPES
from birthmark.predictor.answers.certainty import WORDS
from birthmark.serving.answers.arrow_messages import refuse_compressed
from birthmark.serving.answers.histories import DIRECTORY_NAMES, freshness, with_histories
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.models.loaded import LoadedModel
from birthmark_native import MEMBERS, MOST_FILES, Member

MEDIA_TYPE = b"application/vnd.apache.arrow.stream"
"""The media type of a stream in Arrow's IPC format."""

BINARY = {"schema": {"type": "string", "format": "binary"}}
IN_ARROW = {"requestBody": {"required": True, "content": {MEDIA_TYPE.decode(): BINARY}}}
"""The OpenAPI descriptions of bytes, and of a request body in Arrow."""

_MEMBERS = {member.name: member for member in MEMBERS if member.files}
_BYTES = (pa.types.is_binary, pa.types.is_large_binary)
_TEXT = (pa.types.is_string, pa.types.is_large_string)
# Only types that do not grow when cast: a dictionary could repeat a long text in every row.
_TYPES: dict[str, tuple[Callable[[pa.DataType], bool], ...]] = {
    "name": (*_BYTES, *_TEXT),
    "number": (pa.types.is_integer,),
    "text": _TEXT,
    "time": (pa.types.is_timestamp,),
    "bytes": _BYTES,
    "opaque": _BYTES,
    "path": (*_BYTES, *_TEXT),
    "inode": (pa.types.is_integer,),
}


def is_arrow(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether the content type of a request is Arrow."""
    for name, value in headers:
        if name == b"content-type":
            return value.partition(b";")[0].strip().lower() == MEDIA_TYPE
    return False


def answer(model: LoadedModel, body: bytes, three: bool = False) -> tuple[bytes, pa.Table]:
    """Return the answer to a stream of creates, and these creates with their histories.

    The answer is a stream with the rows in the same order and a boolean column for each predicate.
    With `three`, each predicate also has ``KEY answer`` (yes, no or unsure) and
    ``KEY probability``, and there is a column ``told``, the history scope. The creates have the
    columns ``features.CREATES``. Raises `ApiError` for an invalid stream.
    """
    creates = with_histories(model.live, _read_creates(body))
    columns: dict[str, Any] = dict(model.answers(creates))
    if three:
        for key, answers in model.three_way_answers(creates).items():
            columns[f"{key} answer"] = pa.DictionaryArray.from_arrays(answers.words, WORDS)
            columns[f"{key} probability"] = answers.probabilities
        columns["told"] = pa.DictionaryArray.from_arrays(model.scopes_used(creates), HISTORY_SCOPES)
    metadata = {"model": model.version, "kind": model.kind, "point": model.point}
    if model.live is not None:
        metadata["live"] = json.dumps(freshness(model.live))
    table = pa.table(columns).replace_schema_metadata(metadata)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    encoded: bytes = sink.getvalue().to_pybytes()
    return encoded, creates


def creates(body: bytes) -> pa.Table:
    """Return the creates (``features.CREATES``) in a stream."""
    return filled(_read_creates(body), CREATES)


def _read_creates(body: bytes) -> pa.Table:
    """Return the creates in a stream, with all columns that name their directories."""
    creates = _read(body)
    columns = {_column(member): _cast(creates, member) for member in _MEMBERS.values()}
    for member in _MEMBERS.values():
        _check_values(member, columns[_column(member)])
    return pa.table(columns)


def _column(member: Member) -> str:
    return member.column or member.name


def _type(member: Member) -> pa.DataType:
    return CREATES.field(member.column).type if member.column else DIRECTORY_NAMES[member.name]


def _read(body: bytes) -> pa.Table:
    try:
        with pa.ipc.open_stream(body) as reader:
            _check_columns(reader.schema)
            refuse_compressed(body)
            batches, rows = [], 0
            for batch in reader:
                rows += len(batch)
                if rows > MOST_FILES:
                    _refuse(f"expected at most {MOST_FILES} rows", None)
                batch.validate(full=True)
                batches.append(batch)
            return pa.Table.from_batches(batches, reader.schema)
    except (pa.ArrowException, OSError, ValueError) as error:
        what = f"expected an uncompressed stream in Arrow's IPC format: {error}"
        raise ApiError("invalid_arrow", what) from error


def _check_columns(schema: pa.Schema) -> None:
    for name, type in zip(schema.names, schema.types, strict=True):
        if name not in _MEMBERS or schema.names.count(name) > 1:
            _refuse(f"expected the columns {', '.join(_MEMBERS)}, each at most once", name)
        member = _MEMBERS[name]
        may_lack = type == pa.null() and not member.needed
        if not may_lack and not any(is_type(type) for is_type in _TYPES[member.kind]):
            _refuse(f"expected {_type(member)}, found {type}", name)
        if pa.types.is_timestamp(type) and type.tz is None:
            _refuse(f"expected times with a time zone, found {type}", name)
    if "name" not in schema.names:
        _refuse("expected a column of names", "name")


def _cast(creates: pa.Table, member: Member) -> pa.Array:
    wanted = _type(member)
    if member.name not in creates.column_names:
        return pa.nulls(len(creates), wanted)
    try:
        return creates[member.name].cast(wanted).combine_chunks()
    except pa.ArrowException as error:
        _refuse(f"expected {wanted}: {error}", member.name)


def _check_values(member: Member, values: pa.ChunkedArray) -> None:
    """Refuse values that are invalid in JSON requests, too."""
    name, most = member.name, member.most
    if member.needed and values.null_count:
        _refuse(f"expected a {name} in every row", name)
    match member.kind:
        case "name":
            _require(_is_within(pc.binary_length(values), 1, most), name, f"1 to {most} bytes")
            for forbidden in (b"/", b"\0"):
                matches = pc.match_substring(values, forbidden)
                _require(pc.invert(matches), name, "a name in its directory, without / and NUL")
        case "number":
            _require(pc.less_equal(values, most), name, f"at most {most}")
        case "path":
            _require(_is_within(pc.binary_length(values), 1, most), name, f"1 to {most} bytes")
            _require(pc.invert(pc.match_substring(values, b"\0")), name, "a path, without NUL")
        case "opaque":
            _require(_is_within(pc.binary_length(values), 1, most), name, f"1 to {most} bytes")
        case "text":
            _require(_is_within(pc.utf8_length(values), 1, most), name, f"1 to {most} characters")
        case "time":
            micros = values.cast(pa.int64())
            dated = _is_within(micros, FIRST_US, LAST_US)
            _require(dated, name, "a time of the years 1 to 9999 UTC")
        case "bytes":
            _require(pc.equal(pc.binary_length(values), most), name, f"{most} bytes")


def _is_within(numbers: Any, least: int, most: int | None) -> Any:
    return pc.and_(pc.greater_equal(numbers, least), pc.less_equal(numbers, most))


def _require(holds: Any, member: str, what: str) -> None:
    row = pc.index(holds, False).as_py()
    if row >= 0:
        _refuse(f"expected {what}", f"[{row}].{member}")


def _refuse(what: str, field: str | None) -> NoReturn:
    raise ApiError("invalid_request", what, field=field)
