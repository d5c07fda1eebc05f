"""Two bundled days of a real NFS capture, and the tool that cut them.

``day1.parquet`` and ``day2.parquet`` are operations tables from ingest, each the beginning of one
day of a small site; ``README.md`` next to them names the source.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from birthmark.data.common.durable import output
from birthmark.data.schema import OPERATIONS
from birthmark.data.traces.reader import open_trace

DIRECTORY = Path(__file__).parent
DAYS = (DIRECTORY / "day1.parquet", DIRECTORY / "day2.parquet")

# Counters that rise steadily are smallest as differences.
DELTAS = ("time", "reply_time", "xid")


def cut(trace: str | Path, out: Path, seconds: float) -> int:
    """Write a trace's operations of the first ``seconds`` as one small Parquet file.

    Returns the number of rows. The order of the trace is kept.
    """
    batches, first = [], None
    for batch in open_trace(trace):
        times = batch["time"].cast(pa.int64())
        first = times[0].as_py() if first is None else first
        keep = pc.less(times, first + round(seconds * 1e6))
        batches.append(batch.filter(keep))
    table = pa.Table.from_batches(batches).combine_chunks()
    words = [each.name for each in OPERATIONS if pa.types.is_dictionary(each.type)]
    with output(out) as temporary:
        pq.write_table(
            table,
            temporary,
            compression="zstd",
            compression_level=19,
            use_dictionary=words,
            column_encoding=dict.fromkeys(DELTAS, "DELTA_BINARY_PACKED"),
            row_group_size=1 << 20,
            write_statistics=False,
        )
    return len(table)


def main() -> None:
    """Cut a bundled sample: ``python -m birthmark.data.samples TRACE OUT SECONDS``."""
    parser = argparse.ArgumentParser("python -m birthmark.data.samples", description=main.__doc__)
    parser.add_argument("trace")
    parser.add_argument("out", type=Path)
    parser.add_argument("seconds", type=float)
    arguments = parser.parse_args()
    rows = cut(arguments.trace, arguments.out, arguments.seconds)
    print(f"{arguments.out}: {rows:,} operations, {arguments.out.stat().st_size:,} bytes")
