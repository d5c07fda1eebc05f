"""The busiest clients, users, groups, files and directories (thesis Tables 4.3 and 4.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.common.sums import summed
from birthmark.data.scan.inputs import CountsTable
from birthmark.data.scan.merge import tops
from birthmark.data.scan.outputs import write
from birthmark.data.settings import Busiest, Order

BLOCK = 8192
_DEFAULTS = Busiest()
_SUMS = ("ops", "read", "write", "other", "bytes_read", "bytes_written", "errors")
_AT_ONCE = 1 << 20


def top(table: CountsTable, by: list[str], count: int, order: Order = _DEFAULTS.order) -> pa.Table:
    """Return the busiest values of keys, after a first row with the sum of all and no values.

    The columns are the keys, ``ops``, its parts ``read``, ``write`` and ``other``, then
    ``bytes_read``, ``bytes_written``, ``errors`` and ``cost``. The cost is the thesis's estimate of
    the disk activity (6.2): the number of operations that transfer no data, plus 0.125 for each
    block of 8 KiB transferred.

    Raises:
        ValueError: the table has no such key, or does not count read and write apart.
    """
    table.need(by)
    sums = _with_cost(_sums(table, by)).sort_by(
        [(order, "descending"), *((key, "ascending") for key in by)]
    )
    whole = _with_cost(_sums(table, []))
    nobody = [pa.nulls(len(whole), table.schema.field(key).type) for key in by]
    whole = pa.table([*nobody, *whole.columns], [*by, *whole.column_names])
    return pa.concat_tables([whole, sums.slice(0, count).select(whole.column_names)])


def write_rows(table: CountsTable, out: str, busiest: pa.Table, by: list[str]) -> None:
    """Write a table's rows of the busiest values, as `top` returned them."""
    wanted = _joined(busiest.slice(1), by).combine_chunks()

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in table.batches():
            yield batch.filter(pc.is_in(_joined(batch, by), wanted))

    write(out, table.schema, batches)


def _joined(rows: Any, by: list[str]) -> Any:
    """Return the keys of each row as one text."""
    words = [pc.fill_null(rows[key].cast(pa.utf8()), "") for key in by]
    return pc.binary_join_element_wise(*words, "\0")


def _sums(table: CountsTable, by: list[str]) -> pa.Table:
    parts: list[pa.Table] = []
    for batch in table.batches():
        parts.append(_row_sums(table.path, tops(batch, by), by))
        if sum(map(len, parts)) > _AT_ONCE:
            parts = [summed(pa.concat_tables(parts), by, _SUMS)]
    if not parts:
        parts = [_row_sums(table.path, pa.RecordBatch.from_pylist([], table.schema), by)]
    return summed(pa.concat_tables(parts), by, _SUMS)


def _row_sums(path: str, batch: pa.RecordBatch, by: list[str]) -> pa.Table:
    columns = {key: batch[key] for key in by}
    ops, op = batch["ops"].cast(pa.int64()), batch["op"]
    for word in ("read", "write"):
        columns[word] = pc.if_else(pc.equal(op, word), ops, 0)
        moved = batch["bytes_read" if word == "read" else "bytes_written"]
        if pc.any(pc.and_(pc.greater(moved, 0), pc.not_equal(op, word))).as_py():
            raise ValueError(
                f"{path}: column op: {word} is not counted apart: scan the trace with --ops "
                "that name read and write"
            )
    columns["other"] = pc.subtract(ops, pc.add(columns["read"], columns["write"]))
    columns |= {name: batch[name].cast(pa.int64()) for name in _SUMS if name in batch.schema.names}
    return pa.table(columns)


def _with_cost(sums: pa.Table) -> pa.Table:
    moved = pc.add(sums["bytes_read"], sums["bytes_written"])
    cost = pc.add(sums["other"].cast(pa.float64()), pc.multiply(moved, 0.125 / BLOCK))
    return sums.append_column("bytes", moved).append_column("cost", cost)
