r"""The classic text table: a line per period and keys, a column per operation.

The first line is ``#`` and the columns' names; columns are separated by blanks::

    #time seconds KEY… total OP… errors unanswered bytes_read bytes_written us_OP…

``time`` is the beginning of the period in seconds since 1970, UTC; OP are the operations and
``total`` is their sum, ``other`` included; ``us_OP`` is the mean latency in microseconds. ``-``
stands for a missing value. In paths a blank is written ``\x20``. Generated data has a line ``#
generated {…}`` before all others (`data.generated`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.generated import all_in_metadata, comment
from birthmark.data.scan.tables import KEYS, OTHER

SUMS = ("errors", "unanswered", "bytes_read", "bytes_written")


def write_text(
    file: BinaryIO, schema: pa.Schema, batches: Callable[[], Iterable[pa.RecordBatch]]
) -> None:
    """Write a table's rows: counts as above, the map of files row by row."""
    for mark in all_in_metadata(schema):
        file.write(comment(mark) + b"\n")
    if "op" not in schema.names:
        _lines(file, schema.names, batches())
        return
    found = sorted({op for batch in batches() for op in pc.unique(batch["op"]).to_pylist()})
    ops = [op for op in found if op != OTHER] + [op for op in found if op == OTHER]
    by = [name for name in schema.names if name in KEYS]
    pivoted = (_pivot(table, by, ops) for table in _whole_lines(schema, by, batches()))
    names = ["time", "seconds", *by, "total", *ops, *SUMS, *(f"us_{op}" for op in ops)]
    _lines(file, names, pivoted)


def _whole_lines(
    schema: pa.Schema, by: list[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.Table]:
    """Yield rows such that those of one line, which follow each other, stay together."""
    held = schema.empty_table()
    for batch in batches:
        if batch.num_rows == 0:
            continue
        table = pa.concat_tables([held, pa.Table.from_batches([batch], schema)])
        last = table.slice(len(table) - 1)
        same = pa.chunked_array([pa.nulls(len(table), pa.bool_()).fill_null(True)])
        for name in ("time", *by):
            value = last[name][0]
            equal = pc.is_null(table[name]) if not value.is_valid else pc.equal(table[name], value)
            same = pc.and_(same, pc.fill_null(equal, False))
        start = pc.index(same, True).as_py()
        if start > 0:
            yield table.slice(0, start)
        held = table.slice(start)
    if len(held):
        yield held


def _pivot(table: pa.Table, by: list[str], ops: list[str]) -> pa.Table:
    """Combine the rows of one period and keys into one row."""
    keys = ["time", "seconds", *by]
    columns = {name: table[name] for name in (*keys, *SUMS)} | {"total": table["ops"]}
    for op in ops:
        is_op = pc.equal(table["op"], op)
        columns[op] = pc.if_else(is_op, table["ops"], 0)
        columns[f"us {op}"] = pc.if_else(is_op, table["latency_mean"], None)
    sums = ["total", *ops, *SUMS]
    means = [f"us {op}" for op in ops]
    grouped = pa.table(columns).group_by(keys, use_threads=False)
    lines = grouped.aggregate([(s, "sum") for s in sums] + [(m, "max") for m in means])
    order = [*keys, *(f"{name}_sum" for name in sums), *(f"{name}_max" for name in means)]
    return lines.select(order)


def _lines(file: BinaryIO, names: list[str], tables: Iterable[pa.RecordBatch | pa.Table]) -> None:
    file.write(f"#{' '.join(names)}\n".encode())
    for table in tables:
        words = [_words(column) for column in table.columns]
        lines = pc.binary_join_element_wise(*words, " ")
        for chunk in lines.chunks if isinstance(lines, pa.ChunkedArray) else [lines]:
            if len(chunk):
                file.write(("\n".join(chunk.to_pylist()) + "\n").encode())


def _words(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column as words without blanks."""
    kind = column.type
    if pa.types.is_timestamp(kind):
        seconds = pc.divide(column.cast(pa.int64()).cast(pa.float64()), 1e6)
        words = _trimmed(pc.round(seconds, 6).cast(pa.decimal128(18, 6)))
    elif pa.types.is_floating(kind):
        words = _trimmed(pc.round(column, 3).cast(pa.decimal128(24, 3)))
    elif pa.types.is_binary(kind):
        words = pa.chunked_array([pa.array([v.hex() for v in column.to_pylist()], pa.utf8())])
    elif pa.types.is_string(kind):
        words = pc.replace_substring(column, " ", "\\x20")
    elif pa.types.is_boolean(kind):
        words = column.cast(pa.uint8()).cast(pa.utf8())
    else:
        words = column.cast(pa.utf8())
    return pc.fill_null(words, "-")


def _trimmed(numbers: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return decimal numbers without trailing zeros."""
    return pc.replace_substring_regex(numbers.cast(pa.utf8()), r"\.?0+$", "")
