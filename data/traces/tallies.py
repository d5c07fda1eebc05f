"""Counts of an operations table, equal to a decoder's counts of its messages."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

COUNTED = [
    "op",
    "status",
    "reply_time",
    "retransmits",
    "duplicate_replies",
    "short",
    "time",
    "compound_index",
    "compound_status",
]
"""The columns of the operations table that are counted."""

AT_ONCE = 1_000_000
"""Rows counted at a time."""

SUMS = ("retransmits", "duplicate_replies", "short")

Counts = dict[str, dict[str, int]]
"""Numbers by name, by procedure or the like."""


class Tallies:
    """Counts operations batch by batch, in memory that does not grow with them."""

    def __init__(self) -> None:
        self._waiting: list[pa.RecordBatch] = []
        self._rows = 0
        self._procedures: Counts = {}
        self._operations: Counts = {}
        self._sums: Counter[str] = Counter()
        self._times: list[int] = []

    def add(self, batch: pa.RecordBatch) -> None:
        """Count a batch of :data:`birthmark.data.schema.OPERATIONS`."""
        self._waiting.append(batch.select(COUNTED))
        self._rows += batch.num_rows
        if self._rows >= AT_ONCE:
            self._count()

    def procedures(self) -> Counts:
        """Return calls, replies and results by procedure; a compound is one call."""
        self._count()
        return dict(sorted(self._procedures.items()))

    def counts(self) -> dict[str, Any]:
        """Return all counts: see ``birthmark_native.Trace.counts``."""
        return {
            "procedures": self.procedures(),
            "compound_operations": dict(sorted(self._operations.items())),
            **{name: self._sums[name] for name in SUMS},
            "period": (min(self._times), max(self._times)) if self._times else None,
        }

    def _count(self) -> None:
        if not self._rows:
            return
        table = pa.Table.from_batches(self._waiting)
        self._waiting, self._rows = [], 0
        messages = _messages(table)
        add_up(self._procedures, _procedures(messages))
        add_up(self._operations, _procedures(table.filter(pc.is_valid(table["compound_index"]))))
        for name in SUMS:
            self._sums[name] += pc.sum(messages[name]).as_py() or 0
        for name in ("time", "reply_time"):
            ends = pc.min_max(table[name].cast(pa.int64())).as_py()
            self._times += [time for time in ends.values() if time is not None]
        self._times = [min(self._times), max(self._times)]


def add_up(into: Counts, more: Counts) -> None:
    """Add counts by key to others."""
    for key, counts in more.items():
        sums = into.setdefault(key, dict.fromkeys(counts, 0))
        for name, number in counts.items():
            sums[name] += number


def _messages(table: pa.Table) -> pa.Table:
    """Return a row per call: the first of a compound stands for the whole compound."""
    index = table["compound_index"]
    if index.null_count == len(table):
        return table
    calls = table.filter(pc.fill_null(pc.equal(index, 0), True))
    compound = pc.is_valid(calls["compound_index"])
    op = pc.if_else(compound, "compound", calls["op"].cast(pa.utf8()))
    status = pc.if_else(compound, calls["compound_status"], calls["status"])
    for name, column in (("op", op), ("status", status)):
        calls = calls.set_column(calls.schema.get_field_index(name), name, column)
    return calls


def _procedures(table: pa.Table) -> Counts:
    """Count calls, replies, successes and errors by procedure.

    A success of the null procedure is not counted: it returns no NFS status.
    """
    answered = pc.cast(pc.is_valid(table["reply_time"]), pa.int64())
    replies = pc.add(answered, table["duplicate_replies"].cast(pa.int64()))
    has_status = pc.not_equal(table["op"].cast(pa.utf8()), "null")
    ok = pc.and_(pc.fill_null(pc.equal(table["status"], 0), False), has_status)
    errors = pc.and_(pc.fill_null(pc.not_equal(table["status"], 0), False), has_status)
    grouped = pa.table(
        {
            "op": table["op"].cast(pa.utf8()),
            "calls": pc.add(table["retransmits"].cast(pa.int64()), 1),
            "replies": replies,
            "ok": pc.cast(ok, pa.int64()),
            "errors": pc.cast(errors, pa.int64()),
            "operations": pa.nulls(len(table), pa.int64()).fill_null(1),
            "unanswered": pc.subtract(1, answered),
        }
    )
    names = grouped.column_names[1:]
    sums = grouped.group_by("op").aggregate([(name, "sum") for name in names])
    return {
        row["op"]: {name: row[f"{name}_sum"] for name in names}
        for row in sums.sort_by("op").to_pylist()
    }
