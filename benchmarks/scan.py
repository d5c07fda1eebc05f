"""Speed and memory of ``birthmark scan``, beside other programs on the same files.

    python -m benchmarks.scan [--sample FILE.txt] [--bytes 1e9] [--operations 50e6] [--json OUT]

The text is made of a sample by ``benchmarks.repeat``; beside it run ``wc -l``, and ``gawk`` or
``mawk``, which only count the eighth field of each line. The Parquet file is the first bundled day
again and again, as later traffic on other files, up to ``--operations`` rows; beside it DuckDB
counts the same operations per period. Records are lines of text, or rows of Parquet.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.ingest import Run, timed
from benchmarks.repeat import make
from birthmark.data.samples import DAYS
from birthmark.data.schema import OPERATIONS
from birthmark.data.traces.reader import open_trace

DUCKDB = """
import sys, duckdb
duckdb.sql("set threads = 2")
duckdb.sql(f"copy (select time_bucket(interval '5 minutes', time) as period, op, count(*) as ops,"
    " count(*) filter (status <> 0) as errors, avg(reply_time - time) as latency,"
    " approx_quantile(epoch_us(reply_time) - epoch_us(time), [0.5, 0.9, 0.99]) as quantiles,"
    " sum(reply_count) filter (op = 'read') as bytes"
    f" from '{sys.argv[1]}' group by all order by all) to '{sys.argv[2]}'")
"""

AWK = "{count[$8]++} END {for (op in count) print op, count[op]}"

SCANS = {
    "scan": [],
    "scan --by client,user": ["--by", "client,user"],
    "scan --by directory": ["--by", "directory"],
    "scan --by file, and the map": ["--by", "file", "--files", "{folder}/files.parquet"],
}


def scans(path: Path, folder: Path, names: list[str]) -> dict[str, list[str] | str]:
    """Return the commands of scans, by name."""
    start = [sys.executable, "-m", "birthmark", "scan", str(path)]
    out = ["--out", str(folder / "counts.parquet")]
    return {
        name: [*start, *(each.format(folder=folder) for each in SCANS[name]), *out]
        for name in names
    }


def text_programs(path: Path, folder: Path) -> dict[str, list[str] | str]:
    """Return the measurements on text."""
    found = scans(path, folder, ["scan", "scan --by client,user", "scan --by directory"])
    found["wc -l"] = f"wc -l '{path}'"
    for awk in ("gawk", "mawk"):
        if shutil.which(awk):
            found[awk] = [awk, AWK, str(path)]
    return found


def parquet_programs(path: Path, folder: Path) -> dict[str, list[str] | str]:
    """Return the measurements on Parquet."""
    found = scans(path, folder, list(SCANS))
    found["DuckDB"] = [sys.executable, "-c", DUCKDB, str(path), str(folder / "duckdb.parquet")]
    return found


def repeated(path: Path, rows: int) -> int:
    """Write the first bundled day again and again, up to ``rows`` operations; return how many.

    Each repetition is later, and on other files than all others.
    """
    day = pa.Table.from_batches(list(open_trace(DAYS[0])), schema=OPERATIONS)
    times = day["time"].cast(pa.int64())
    span = pc.max(times).as_py() - pc.min(times).as_py() + 1_000_000
    written = 0
    words = [each.name for each in OPERATIONS if pa.types.is_dictionary(each.type)]
    with pq.ParquetWriter(
        path, OPERATIONS, compression="zstd", use_dictionary=words, write_statistics=False
    ) as writer:
        for number in range(-(-rows // len(day))):
            part = _later(day, number, span)
            writer.write_table(part.cast(OPERATIONS), row_group_size=65_536)
            written += len(part)
    return written


def _later(day: pa.Table, number: int, span: int) -> pa.Table:
    """Return a repetition: its times shifted, its handles changed in their last four bytes."""
    for name in ("time", "reply_time"):
        shifted = pc.add(day[name].cast(pa.int64()), number * span).cast(
            OPERATIONS.field(name).type
        )
        day = day.set_column(day.column_names.index(name), name, shifted)
    mark = pa.scalar(number.to_bytes(4, "big"), pa.binary())
    for name in ("fh", "fh2", "new_fh"):
        handles = pc.binary_join_element_wise(day[name], mark, b"")
        day = day.set_column(day.column_names.index(name), name, handles)
    at = day.column_names.index("entries")
    return day.set_column(at, "entries", _entries(day["entries"].combine_chunks(), mark))


def _entries(lists: pa.ListArray, mark: pa.Scalar) -> pa.ListArray:
    entries, kind = lists.values, lists.type
    fields = list(kind.value_type)
    columns = [entries.field(each.name) for each in fields]
    at = next(i for i, each in enumerate(fields) if each.name == "fh")
    columns[at] = pc.binary_join_element_wise(columns[at], mark, b"")
    changed = pa.StructArray.from_arrays(columns, fields=fields)
    return pa.ListArray.from_arrays(lists.offsets, changed, type=kind, mask=lists.is_null())


def measure(
    programs: dict[str, list[str] | str], what: str, records: int, runs: int
) -> list[dict[str, Any]]:
    """Run all programs, interleaved; return a row for each, its speed also in that of scan."""
    samples: dict[str, list[Run]] = {name: [] for name in programs}
    for _ in range(runs):
        for name, command in programs.items():
            samples[name].append(timed(command, isinstance(command, str)))
    seconds = {name: median(run.seconds for run in spent) for name, spent in samples.items()}
    return [
        {
            "input": what,
            "program": name,
            "records": records,
            "seconds": round(seconds[name], 3),
            "records_per_second": round(records / seconds[name]),
            "times_scan": round(seconds["scan"] / seconds[name], 2),
            "peak_mb": round(max(run.peak_mb for run in spent)),
        }
        for name, spent in samples.items()
    ]


def lines_of(path: Path) -> int:
    """Return the number of lines of a file."""
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sample", type=Path, help="nfsdump text to repeat; none: no text")
    parser.add_argument("--bytes", type=lambda text: int(float(text)), default=1_000_000_000)
    parser.add_argument("--operations", type=lambda text: int(float(text)), default=50_000_000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where to make the files; default: temporary")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        folder = Path(name)
        # in processes of their own: what this one holds would count as the programs' memory
        if arguments.sample:
            text = folder / "day.txt"
            with ProcessPoolExecutor(1, get_context("spawn")) as pool:
                pool.submit(make, arguments.sample, text, arguments.bytes).result()
            programs = text_programs(text, folder)
            rows += measure(programs, "text", lines_of(text), arguments.runs)
            text.unlink()
        table = folder / "day.parquet"
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            records = pool.submit(repeated, table, arguments.operations).result()
        rows += measure(parquet_programs(table, folder), "Parquet", records, arguments.runs)
    print(f"{'input':9}{'program':30}{'s':>8}{'records/s':>13}{'speed/scan':>12}{'peak MB':>9}")
    for row in rows:
        print(
            f"{row['input']:9}{row['program']:30}{row['seconds']:8.2f}"
            f"{row['records_per_second']:13,}{row['times_scan']:12.2f}{row['peak_mb']:9}"
        )
    if arguments.json:
        arguments.json.write_text(json.dumps(rows, indent=2) + "\n")


if __name__ == "__main__":
    main()
