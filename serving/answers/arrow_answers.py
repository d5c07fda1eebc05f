"""Many files at once, as Arrow: a stream of creates in, a stream of answers out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.schema import FIRST_US, LAST_US, filled
from birthmark.features import CREATES
from birthmark.features.told import TOLD
from birthmark.predictor.answers.certainty import WORDS
from birthmark.serving.answers.arrow_messages import refuse_compressed
from birthmark.serving.answers.histories import PLACES, freshness, with_histories
from birthmark.serving.messages.errors import ApiError
from birthmark.serving.models.loaded import LoadedModel
from birthmark_native import MEMBERS, MOST_FILES, Member

MEDIA_TYPE = b"application/vnd.apache.arrow.stream"
"""Of a stream in Arrow's IPC format."""

BINARY = {"schema": {"type": "string", "format": "binary"}}
IN_ARROW = {"requestBody": {"required": True, "content": {MEDIA_TYPE.decode(): BINARY}}}
"""The OpenAPI descriptions of bytes, and of a body that is such a stream."""

_MEMBERS = {member.name: member for member in MEMBERS if member.files}
_BYTES = (pa.types.is_binary, pa.types.is_large_binary)
_TEXT = (pa.types.is_string, pa.types.is_large_string)
# Those alone that are no larger once they are cast: a dictionary's text may stand in every row.
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


def are_meant(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Return whether a request's headers say that its body is such a stream."""
    for name, value in headers:
        if name == b"content-type":
            return value.partition(b";")[0].strip().lower() == MEDIA_TYPE
    return False


def answer(model: LoadedModel, body: bytes, three: bool = False) -> tuple[bytes, pa.Table]:
    """Return a stream of what the model answers to one, a boolean column for each predicate.

    With the `three` answers, each has two columns more: ``KEY answer`` (a dictionary of yes, no and
    unsure) and ``KEY probability``; and there is a column ``told``. The rows stay in their order.
    The table is the creates (``features.CREATES``) that were asked about, with what was seen before
    them. Raises `ApiError` for what is no stream of such columns.
    """
    asked = with_histories(model.live, _asked(body))
    columns: dict[str, Any] = dict(model.answers(asked))
    if three:
        for key, said in model.said(asked).items():
            columns[f"{key} answer"] = pa.DictionaryArray.from_arrays(said.words, WORDS)
            columns[f"{key} probability"] = said.probabilities
        columns["told"] = pa.DictionaryArray.from_arrays(model.told(asked), TOLD)
    about = {"model": model.version, "kind": model.kind, "point": model.point}
    if model.live is not None:
        about["live"] = json.dumps(freshness(model.live))
    table = pa.table(columns).replace_schema_metadata(about)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written, asked


def creates(body: bytes) -> pa.Table:
    """Return the creates (``features.CREATES``) that a stream of requests is about."""
    return filled(_asked(body), CREATES)


def _asked(body: bytes) -> pa.Table:
    """Return the same, and whatever else names their directories."""
    asked = _read(body)
    known = {_column(member): _cast(asked, member) for member in _MEMBERS.values()}
    for member in _MEMBERS.values():
        _check_values(member, known[_column(member)])
    return pa.table(known)


def _column(member: Member) -> str:
    return member.column or member.name


def _type(member: Member) -> pa.DataType:
    return CREATES.field(member.column).type if member.column else PLACES[member.name]


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
    for name, found in zip(schema.names, schema.types, strict=True):
        if name not in _MEMBERS or schema.names.count(name) > 1:
            _refuse(f"expected the columns {', '.join(_MEMBERS)}, each at most once", name)
        member = _MEMBERS[name]
        may_lack = found == pa.null() and not member.needed
        if not may_lack and not any(is_type(found) for is_type in _TYPES[member.kind]):
            _refuse(f"expected {_type(member)}, found {found}", name)
        if pa.types.is_timestamp(found) and found.tz is None:
            _refuse(f"expected times with a time zone, found {found}", name)
    if "name" not in schema.names:
        _refuse("expected a column of names", "name")


def _cast(asked: pa.Table, member: Member) -> pa.Array:
    wanted = _type(member)
    if member.name not in asked.column_names:
        return pa.nulls(len(asked), wanted)
    try:
        return asked[member.name].cast(wanted).combine_chunks()
    except pa.ArrowException as error:
        _refuse(f"expected {wanted}: {error}", member.name)


def _check_values(member: Member, values: pa.ChunkedArray) -> None:
    """Refuse values that a request in JSON could not have, either."""
    name, most = member.name, member.most
    if member.needed and values.null_count:
        _refuse(f"expected a {name} in every row", name)
    match member.kind:
        case "name":
            _require(_is_within(pc.binary_length(values), 1, most), name, f"1 to {most} bytes")
            for forbidden in (b"/", b"\0"):
                found = pc.match_substring(values, forbidden)
                _require(pc.invert(found), name, "a name in its directory, without / and NUL")
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
