"""A row of the rewritten trace, as a Python object."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from birthmark.data.datasets import row_groups
from birthmark.layout_hint.rewrite.permissions import Caller
from birthmark.layout_hint.rewrite.schema import NAMED
from birthmark.research.replay.store import check_name


class Operation(NamedTuple):
    """A row of the rewritten trace (``layout_hint.rewrite.schema.OPERATIONS``), times in µs."""

    seq: int
    time: int
    op: str
    status: int
    inserted: str | None
    uid: int | None
    gid: int | None
    gids: list[int] | None
    id: int
    name: bytes | None
    id2: int | None
    name2: bytes | None
    new_id: int | None
    offset: int | None
    count: int | None  # type: ignore[assignment]  # hides tuple.count
    cookie: int | None
    how: int | None
    kind: str | None
    target: bytes | None
    mode: int | None
    owner: int | None
    group: int | None
    size: int | None
    atime: int | None
    mtime: int | None
    now: int | None
    reply_count: int | None
    reply_size: int | None

    @property
    def caller(self) -> Caller:
        """The caller."""
        return Caller(self.uid, self.gid, self.gids)


def read_operations(file: pq.ParquetFile) -> Iterator[Operation]:
    """Yield the operations of a build, with checked names: the file may come from anyone.

    Raises:
        ValueError: a name cannot be that of a directory entry.
    """
    for batch in row_groups.batches(file, 16_384, use_threads=False):
        columns = []
        for column in batch.columns:
            if pa.types.is_timestamp(column.type):
                column = column.cast(pa.int64())
            columns.append(column.to_pylist())
        for operation in map(Operation._make, zip(*columns, strict=True)):
            if operation.op in NAMED:
                _check_names(operation)
            yield operation


def _check_names(operation: Operation) -> None:
    where = f"operation {operation.seq}"
    if operation.op == "lookup" and operation.name in (b".", b".."):
        return
    check_name(operation.name, where)
    if operation.op == "rename":
        check_name(operation.name2, where)
