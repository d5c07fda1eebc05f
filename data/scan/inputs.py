"""Read tables of operation counts: Parquet, or CSV; ``-`` is standard input."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as csv
import pyarrow.parquet as pq

from birthmark.data.generated import Mark, all_in_metadata, distinct, in_label, marked
from birthmark.data.scan.merge import Piece, row_groups
from birthmark.data.scan.tables import COUNTS, GENERATED, KEYS, LATENCY, PERIOD, counts_schema
from birthmark.data.traces.reader import PARQUET_MAGIC


class CountsTable:
    """A table of operation counts.

    Attributes:
        path: the input.
        by: the keys that distinguish its rows.
        schema: `data.scan.tables.counts_schema` of these, with the marks of generated data.
        generated: the marks of the traces behind it (`data.generated`); empty if all are real.

    Raises:
        OSError: it cannot be read.
        ValueError: it is not such a table; the message names the file and the column.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        content = sys.stdin.buffer.read() if path == "-" else None
        source = io.BytesIO(content) if content is not None else path
        self._file: pq.ParquetFile | None = None
        if (content[:4] if content is not None else _first(path)) == PARQUET_MAGIC:
            self._file = pq.ParquetFile(source)
            names = self._file.schema_arrow.names
            self.generated = all_in_metadata(self._file.schema_arrow)
        else:
            self._table = self._read_csv(source)
            names = self._table.column_names
            self.generated = _marks(self._table)
        self.by = [key for key in KEYS if key in names]
        self.schema = marked(counts_schema(self.by), self.generated)
        for wanted in (*PERIOD, *COUNTS):
            if wanted.name not in names:
                raise ValueError(self._expected(wanted, "no such column"))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows; can be called repeatedly."""
        for piece in self.pieces():
            yield from piece.batches()

    def pieces(self) -> list[Piece]:
        """Return the rows in pieces that fit into memory."""
        if self._file is None:
            table = self._cast(self._table)
            first = pc.min(table["time"].cast(pa.int64())).as_py() or 0
            return [Piece(first, table.to_batches)]
        groups = range(self._file.num_row_groups)
        times = (self._cast(self._file.read_row_group(at, ["time"])) for at in groups)
        firsts = [pc.min(each["time"].cast(pa.int64())).as_py() or 0 for each in times]
        physical = self._file.schema_arrow
        return [self._checked(piece, physical) for piece in row_groups(self._file, firsts)]

    def period(self) -> int:
        """Return the length of its periods, µs; 0 if it has no rows.

        Raises:
            ValueError: they are of several lengths.
        """
        found = {
            each for batch in self.batches() for each in pc.unique(batch["seconds"]).to_pylist()
        }
        if len(found) > 1:
            raise ValueError(
                f"{self.path}: column seconds: expected periods of one length, found "
                + ", ".join(f"{each:g}" for each in sorted(found))
            )
        return round(found.pop() * 1e6) if found else 0

    def need(self, keys: Iterable[str]) -> None:
        """Raise ``ValueError`` if these keys do not distinguish the rows."""
        for key in keys:
            if key not in self.by:
                raise ValueError(
                    f"{self.path}: no column {key}: scan the trace with --by "
                    + ",".join([*self.by, key])
                )

    def _checked(self, piece: Piece, physical: pa.Schema) -> Piece:
        def batches() -> list[pa.RecordBatch]:
            found: list[pa.RecordBatch] = self._cast(
                pa.Table.from_batches(piece.batches(), physical)
            ).to_batches()
            return found

        return Piece(piece.first, batches)

    def _cast(self, table: pa.Table) -> pa.Table:
        """Return the table with the documented columns and types."""
        wanted = [each for each in self.schema if each.name in table.column_names]
        columns = []
        for each in wanted:
            try:
                column = table[each.name].cast(each.type)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                found = str(table[each.name].type)
                raise ValueError(self._expected(each, found)) from error
            if column.null_count and not each.nullable:
                raise ValueError(self._expected(each, f"{column.null_count} rows without a value"))
            columns.append(column)
        return pa.table(columns, schema=pa.schema(wanted, self.schema.metadata))

    def _expected(self, wanted: pa.Field, found: str) -> str:
        return (
            f"{self.path}: column {wanted.name}: expected {wanted.type} as in a scan's table of "
            f"counts, found {found}"
        )

    def _read_csv(self, source: io.BytesIO | str) -> pa.Table:
        fields = (*PERIOD, *KEYS.values(), *COUNTS)
        kinds = {GENERATED: pa.utf8()}
        kinds |= {each.name: pa.utf8() if each.type == LATENCY else each.type for each in fields}
        convert = csv.ConvertOptions(
            column_types=kinds, strings_can_be_null=False, null_values=[""]
        )
        try:
            table = csv.read_csv(source, convert_options=convert)
        except pa.ArrowInvalid as error:
            raise ValueError(
                f"{self.path}: is no table of counts, as Parquet or CSV: {error}"
            ) from error
        if "latency" in table.column_names:
            histograms = self._histograms(table["latency"].combine_chunks())
            table = table.set_column(table.column_names.index("latency"), "latency", histograms)
        return table

    def _histograms(self, text: pa.Array) -> pa.Array:
        """Read histograms written as ``us:ops us:ops``."""
        lists = pc.split_pattern(pc.utf8_trim(text, " "), " ")
        buckets = lists.flatten()
        filled = pc.not_equal(buckets, "")
        offsets = pc.cumulative_sum(pc.if_else(filled, 1, 0).cast(pa.int32()))
        ends = pa.concat_arrays([pa.array([0], pa.int32()), offsets])
        offsets = pc.take(ends, lists.offsets)
        parts = pc.extract_regex(buckets.filter(filled), r"^(?P<us>\d+):(?P<ops>\d+)$")
        if parts.null_count:
            raise ValueError(
                f"{self.path}: column latency: expected pairs like 64:3 between blanks, "
                f"found {buckets.filter(filled).filter(pc.is_null(parts))[0]}"
            )
        us, ops = (pc.cast(each, pa.uint64()) for each in parts.flatten())
        pairs = pa.StructArray.from_arrays([us, ops], fields=list(LATENCY.value_type))
        return pa.ListArray.from_arrays(offsets, pairs, type=LATENCY)


def _marks(table: pa.Table) -> list[Mark]:
    """Return the marks in a CSV's column for them, if it has one."""
    if GENERATED not in table.column_names:
        return []
    words = pc.unique(table[GENERATED]).to_pylist()
    return distinct(mark for text in words for mark in in_label(text))


def _first(path: str) -> bytes:
    with Path(path).open("rb") as file:
        return file.read(len(PARQUET_MAGIC))
