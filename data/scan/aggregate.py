"""Wider periods and fewer keys: the function of ``ns_timeagg`` (thesis 3.6.3)."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.generated import marked
from birthmark.data.scan.inputs import CountsTable
from birthmark.data.scan.merge import merged
from birthmark.data.scan.outputs import write
from birthmark.data.scan.tables import counts_schema

WHOLE = "all"
"""The word for one period that holds the whole table."""


def aggregate(
    table: CountsTable, out: str, by: list[str] | None = None, period: int | str | None = None
) -> None:
    """Write a table's sums.

    Counts, bytes and latencies, quantiles included, equal those of a scan with these keys and this
    period. If directories are omitted, only the top ones are summed: together they hold each
    operation once.

    Args:
        table: the counts.
        out: where to write the sums, as :func:`birthmark.data.scan.outputs.write` has it.
        by: the keys to keep; by default all.
        period: the length of the new periods, µs; ``all`` for a single one; default: unchanged.

    Raises:
        ValueError: the table has no such key, or periods that do not fit into the new ones.
    """
    keys = table.by if by is None else by
    table.need(keys)
    old, origin = table.period(), 0
    if period == WHOLE:
        origin, length = _span(table, old)
    else:
        length = old if period is None else int(period)
        if old and length % old:
            raise ValueError(
                f"{table.path}: its periods are {old / 1e6:g} s long: expected a new period "
                f"that is a multiple of that, found {length / 1e6:g} s"
            )
    write(
        out,
        marked(counts_schema(keys), table.generated),
        lambda: merged(table.pieces(), keys, max(length, 1), origin),
    )


def _span(table: CountsTable, period: int) -> tuple[int, int]:
    """Return when the first period begins, and the time from there to the end of the last, µs."""
    spans = [pc.min_max(batch["time"].cast(pa.int64())).as_py() for batch in table.batches()]
    firsts = [span["min"] for span in spans if span["min"] is not None]
    lasts = [span["max"] for span in spans if span["max"] is not None]
    return (min(firsts), max(lasts) - min(firsts) + period) if firsts else (0, 1)
