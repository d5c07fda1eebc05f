"""Sum rows of a scan: fewer keys, wider periods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.scan.tables import counts_schema
from birthmark_native import ScanMerger


@dataclass
class Piece:
    """Some rows of a table.

    Attributes:
        first: when the earliest of their periods begins, µs.
        batches: gives them.
    """

    first: int
    batches: Callable[[], Iterable[pa.RecordBatch]]


def row_groups(file: pq.ParquetFile, firsts: Sequence[int]) -> list[Piece]:
    """Return the row groups of a Parquet file; ``firsts`` has their earliest periods."""

    def reader(at: int) -> Callable[[], Iterable[pa.RecordBatch]]:
        return lambda: file.read_row_group(at).to_batches()

    return [Piece(first, reader(at)) for at, first in enumerate(firsts)]


def merged(
    pieces: Iterable[Piece], by: list[str], period: int, origin: int = 0
) -> Iterator[pa.RecordBatch]:
    """Yield the sums of rows by keys and period, in the order of the periods.

    Memory is bounded by the keys of periods that are spread over several pieces.

    Args:
        pieces: the rows.
        by: keys that the rows have.
        period: the length of the sums' periods, µs; a multiple of the rows' own.
        origin: when one of them begins, µs.
    """
    merger, schema = ScanMerger(period, by, origin), counts_schema(by)
    ordered = sorted(pieces, key=lambda piece: piece.first)
    ends = [piece.first for piece in ordered[1:]] + [(1 << 63) - 1]
    for piece, end in zip(ordered, ends, strict=True):
        for batch in piece.batches():
            merger.update(tops(batch, by))
        merger.close(end)
        rows = merger.take()
        if rows.num_rows:
            yield pa.RecordBatch.from_arrays(rows.columns, schema=schema)


def tops(batch: pa.RecordBatch, by: list[str]) -> pa.RecordBatch:
    """Leave out rows of directories below others, unless directories are a key.

    The top directories hold each operation once.
    """
    if "directory" in by or "directory" not in batch.schema.names:
        return batch
    names = batch["directory"]
    return batch.filter(pc.or_(pc.equal(names, "/"), pc.invert(pc.match_substring(names, "/"))))
