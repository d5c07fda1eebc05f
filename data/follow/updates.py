"""What a follower tells a service on another host of its live history: updates, as Arrow.

An update is a stream of one row (``SCHEMA``). What changed stands in lists, with the columns of
``birthmark_native.HistoryChanges``: names of files are no part of it, only hashes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from birthmark.data.schema import FIRST_US, LAST_US, TIME
from birthmark_native import HistoryChanges

FORMAT = 1
"""What keys, and the numbers of records, mean. It changes whenever that does."""

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
PATH = "/v1/history"
"""Where a service is told."""

STATES = ("starting", "following", "stopped")
_TEXT = 255  # characters, the longest of each

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
    """How a follower is doing, as ``SharedHistoryWriter.commit`` takes it.

    Attributes:
        clock: the time of the last operation, in microseconds since the epoch.
        lag: by how much that was behind, in seconds.
        loss: share of the last minutes' operations that were lost.
        state: one of ``STATES``.
        operations: how many were followed since the follower began.
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
        sender: which follower this is: its host, and its own file.
        version: that of its program.
        session: one attempt to keep a copy, which begins with nothing.
        number: counts the updates of a session, from 0 on.
        whole: whether the copy has, with this, all that the follower knows.
        report: how the follower is doing.
        changes: what is to be done to the copy.
        thresholds: what stands in the file beside the live history (``data.follow.beside``), if it
            is not as it was; None in the first update that is ``whole``: there is none.
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
    """Return rows as the one list of a column."""
    values = rows if isinstance(rows, pa.Array) else rows.to_struct_array()
    kind = pa.list_(pa.field("item", values.type, False))
    return pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values, kind)


def read(stream: bytes) -> Update:
    """Return the update that `Update.to_stream` wrote, checked.

    Raises:
        OtherFormatError: another version of this program wrote it, whose keys mean something else.
        ValueError: it is none, or damaged (``pa.ArrowException`` and ``OSError``, too).
    """
    row = _row(stream)
    told = {
        name: row[name][0].as_py() for name in row.schema.names if name not in (*_LISTS, "clock")
    }
    if told["format"] != FORMAT:
        raise OtherFormatError(f"expected updates of format {FORMAT}, found {told['format']}")
    clock = row["clock"].cast(pa.int64())[0].as_py()
    report = Report(clock, told["lag"], told["loss"], told["state"], told["operations"])
    _check(told, report)
    forgotten, records, directories = (row[name].flatten() for name in _LISTS)
    changes = HistoryChanges.from_arrow(forgotten, _table(records), _table(directories))
    own = {name: told[name] for name in _OWN}
    return Update(**own, report=report, changes=changes)


class OtherFormatError(ValueError):
    """An update is of a follower whose keys and records mean something else."""


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


def _check(told: dict[str, Any], report: Report) -> None:
    for name in ("sender", "version", "session"):
        if not (0 < len(told[name]) <= _TEXT and told[name].isprintable()):
            raise ValueError(f"{name}: expected 1 to {_TEXT} printable characters")
    if report.state not in STATES:
        raise ValueError(f"state: expected one of {', '.join(STATES)}, found {report.state!r}")
    if not (report.lag >= 0 and 0 <= report.loss <= 1):
        raise ValueError("expected a lag of at least 0, and a loss of 0 to 1")
    if not FIRST_US <= report.clock <= LAST_US:
        raise ValueError("clock: expected a time of the years 1 to 9999 UTC")
