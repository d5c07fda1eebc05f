"""Updates of a live history, which a follower sends to a service on another host, as Arrow.

An update is a stream of one row (``SCHEMA``). The changes stand in lists, with the columns of
``birthmark_native.HistoryChanges``. They hold hashes of file names, never the names.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Literal

import pyarrow as pa
from pydantic import AfterValidator, Field

from birthmark.data.common.numbers import Count, Fraction, Instant, Seconds
from birthmark.data.common.setting_errors import check
from birthmark.data.follow.beside import MOST_BYTES
from birthmark.data.schema import TIME
from birthmark.data.settings import Strict
from birthmark_native import HistoryChanges

FORMAT = 1
"""The version of the keys and of the numbers in records; it changes whenever they do."""

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
PATH = "/v1/history"
"""The service's path for updates."""

State = Literal["starting", "following", "stopped"]


def _printable(text: str) -> str:
    if not text.isprintable():
        raise ValueError("expected printable characters")
    return text


_Text = Annotated[str, Field(min_length=1, max_length=255), AfterValidator(_printable)]


class _Head(Strict):
    """The members of an update besides the changes."""

    format: int
    sender: _Text
    version: _Text
    session: _Text
    number: Count
    whole: bool
    clock: Instant
    lag: Seconds
    loss: Fraction
    state: State
    operations: Count
    thresholds: Annotated[str, Field(max_length=MOST_BYTES)] | None


_LISTS = dict(
    zip(("forgotten", "records", "directories"), HistoryChanges().to_arrow(), strict=True)
)


def _type(rows: pa.Array | pa.RecordBatch) -> pa.DataType:
    return rows.type if isinstance(rows, pa.Array) else pa.struct(list(rows.schema))


_MAY_LACK = "thresholds"
SCHEMA = pa.schema(
    [
        pa.field(name, kind, nullable=name == _MAY_LACK)
        for name, kind in {
            "format": pa.uint32(),
            "sender": pa.utf8(),
            "version": pa.utf8(),
            "session": pa.utf8(),
            "number": pa.uint64(),
            "whole": pa.bool_(),
            "clock": TIME,
            "lag": pa.float64(),
            "loss": pa.float64(),
            "state": pa.utf8(),
            "operations": pa.uint64(),
            "thresholds": pa.utf8(),
            **{
                name: pa.list_(pa.field("item", _type(rows), False))
                for name, rows in _LISTS.items()
            },
        }.items()
    ]
)

_OWN = ("sender", "version", "session", "number", "whole", "thresholds")


@dataclass(frozen=True)
class Report:
    """A follower's condition, as ``SharedHistoryWriter.commit`` takes it.

    Attributes:
        clock: the time of the last operation, in microseconds since the epoch.
        lag: the delay of that operation, in seconds.
        loss: the share of the last minutes' operations that were lost.
        state: a ``State``.
        operations: the number of operations followed since the follower began.
    """

    clock: int
    lag: float
    loss: float
    state: str
    operations: int = 0


@dataclass(frozen=True)
class Update:
    """One update of a copy.

    Attributes:
        sender: the follower: its host, and its own file.
        version: the program's version.
        session: one attempt to maintain a copy, which begins empty.
        number: counts the updates of a session, from 0.
        whole: whether the copy is complete with this update.
        report: the follower's condition.
        changes: the changes to the copy.
        thresholds: the contents of the file that accompanies the live history
            (``data.follow.beside``), if changed; None in the first update that is ``whole``: there
            is no file.
    """

    sender: str
    version: str
    session: str
    number: int
    whole: bool
    report: Report
    changes: HistoryChanges
    thresholds: str | None = None

    def to_stream(self) -> pa.Buffer:
        """Return it in Arrow's IPC format."""
        own = {name: vars(self)[name] for name in _OWN}
        row = {"format": FORMAT, **own, **vars(self.report)}
        columns = {name: pa.array([row[name]], SCHEMA.field(name).type) for name in row}
        columns |= zip(_LISTS, map(_listed, self.changes.to_arrow()), strict=True)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, SCHEMA) as writer:
            ordered = [columns[name] for name in SCHEMA.names]
            writer.write_batch(pa.record_batch(ordered, schema=SCHEMA))
        return sink.getvalue()


def _listed(rows: pa.Array | pa.RecordBatch) -> pa.Array:
    """Return rows as one list in a column."""
    values = rows if isinstance(rows, pa.Array) else rows.to_struct_array()
    kind = pa.list_(pa.field("item", values.type, False))
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values, kind)


def read(stream: bytes) -> Update:
    """Return the update that `Update.to_stream` wrote, checked.

    Raises:
        OtherFormatError: another version of this program wrote it, with different keys.
        ValueError: it is damaged or not an update (``pa.ArrowException`` and ``OSError``, too).
    """
    row = _row(stream)
    values = {
        name: row[name][0].as_py() for name in row.schema.names if name not in (*_LISTS, "clock")
    }
    if values["format"] != FORMAT:
        raise OtherFormatError(f"expected updates of format {FORMAT}, found {values['format']}")
    values["clock"] = row["clock"].cast(pa.int64())[0].as_py()
    check(_Head, **values)
    report = Report(*(values[field.name] for field in fields(Report)))
    removed, records, directories = (row[name].flatten() for name in _LISTS)
    changes = HistoryChanges.from_arrow(removed, _table(records), _table(directories))
    own = {name: values[name] for name in _OWN}
    return Update(**own, report=report, changes=changes)


class OtherFormatError(ValueError):
    """An update of a follower whose keys and records have another meaning."""


def _row(stream: bytes) -> pa.RecordBatch:
    """Return the one row of a stream."""
    with pa.ipc.open_stream(stream) as reader:
        if not reader.schema.equals(SCHEMA):
            raise OtherFormatError("expected the columns of an update of a live history")
        batches = list(reader)
    if [len(batch) for batch in batches] != [1]:
        raise ValueError("expected one row")
    (row,) = batches
    row.validate(full=True)
    for name, column in zip(row.schema.names, row.columns, strict=True):
        lacks = column.null_count and name != _MAY_LACK
        if lacks or (name in _LISTS and column.flatten().null_count):
            raise ValueError(f"{name}: expected no nulls")
    return row


def _table(rows: pa.StructArray) -> pa.RecordBatch:
    return pa.RecordBatch.from_struct_array(rows)
