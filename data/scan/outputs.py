"""Write tables as Parquet, CSV and text; ``-`` is CSV on standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from birthmark.data.common.durable import output
from birthmark.data.common.targets import check_output
from birthmark.data.datasets.row_groups import grouped
from birthmark.data.datasets.tables import ROW_GROUP
from birthmark.data.generated import all_in_metadata, label
from birthmark.data.scan.tables import GENERATED
from birthmark.data.scan.text import write_text

FORMATS = ("parquet", "csv", "txt")
"""The suffixes of files, which select the format."""

Batches = Callable[[], Iterable[pa.RecordBatch]]
"""Gives a table's rows; can be called repeatedly."""


def format_of(path: str) -> str | None:
    """Return the format of a path's suffix; None for a directory's."""
    if path == "-":
        return "csv"
    return next((name for name in FORMATS if path.endswith(f".{name}")), None)


def is_directory(path: str) -> bool:
    """Return whether a path is a directory's: it is one, ends in a slash, or has no suffix."""
    return path.endswith("/") or Path(path).is_dir() or not Path(path).suffix


def check(path: str) -> None:
    """Raise ``ValueError`` if a path's suffix is no format; OSError if it cannot be written."""
    if format_of(path) is None:
        raise ValueError(f"{path}: expected a name that ends in .parquet, .csv or .txt, or -")
    if path != "-":
        check_output(Path(path))


def write(path: str, schema: pa.Schema, batches: Batches) -> None:
    """Write a table, whole or not at all.

    The marks of generated data (`data.generated`) are written, too: Parquet has them in its
    metadata, text in a first line, and CSV, which has no comments, in a last column.

    Raises:
        ValueError: the path's suffix is no format.
        OSError: it cannot be written; an earlier file is unchanged.
    """
    check(path)
    kind = format_of(path)
    if path == "-":
        _write_csv(sys.stdout.buffer, schema, batches)
        sys.stdout.buffer.flush()
        return
    with output(Path(path)) as temporary:
        if kind == "parquet":
            with pq.ParquetWriter(temporary, schema, compression="zstd") as writer:
                for table in grouped(schema, batches(), ROW_GROUP):
                    writer.write_table(table, row_group_size=len(table))
        else:
            with temporary.open("wb") as file:
                form = _write_csv if kind == "csv" else write_text
                form(file, schema, batches)


def _write_csv(file: BinaryIO, schema: pa.Schema, batches: Batches) -> None:
    fields = [pa.field(each.name, _flat_type(each.type)) for each in schema]
    marks = all_in_metadata(schema)
    flat = pa.schema([*fields, pa.field(GENERATED, pa.utf8())] if marks else fields)
    with csv.CSVWriter(file, flat) as writer:
        for batch in batches():
            columns = [_flat(column) for column in batch.columns]
            if marks:
                columns.append(pa.repeat(label(marks), len(batch)))
            writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=flat))


def _flat_type(kind: pa.DataType) -> pa.DataType:
    return pa.utf8() if pa.types.is_list(kind) or pa.types.is_binary(kind) else kind


def _flat(column: pa.Array) -> pa.Array:
    """Return a column as CSV can hold it: histograms as ``us:ops us:ops``, handles in hex."""
    if pa.types.is_binary(column.type):
        return pa.array([value.hex() for value in column.to_pylist()], pa.utf8())
    if not pa.types.is_list(column.type):
        return column
    us, ops = (pc.cast(each, pa.utf8()) for each in column.flatten().flatten())
    pairs = pc.binary_join_element_wise(us, ops, ":")
    first = column.offsets[0].as_py()
    offsets = pc.subtract(column.offsets, first) if first else column.offsets
    return pc.binary_join(pa.ListArray.from_arrays(offsets, pairs), " ")
