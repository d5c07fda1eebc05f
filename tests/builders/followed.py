"""Captures in pieces, and the combined contents of datasets of pieces."""

from __future__ import annotations

import struct
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.datasets.tables import TABLES, read_table
from birthmark.data.schema import TIME
from birthmark_native import TraceLines

Rows = dict[str, Counter[tuple[str, ...]]]


def rows(*datasets: Path) -> Rows:
    """Return the rows of all tables of datasets together, in any order."""
    found: Rows = {}
    for table in TABLES:
        parts = [read_table(dataset, table) for dataset in datasets]
        columns = [map(str, column.to_pylist()) for column in pa.concat_tables(parts).columns]
        found[table] = Counter(zip(*columns, strict=True))
    return found


def hours(out: Path) -> list[Path]:
    return sorted(path for path in out.iterdir() if not path.name.startswith("."))


def packets(capture: Path) -> tuple[bytes, list[bytes]]:
    """Return the header of a pcap file, and its packets with their headers."""
    content, at = capture.read_bytes(), 24
    found = []
    while at < len(content):
        size = 16 + struct.unpack_from("<I", content, at + 8)[0]
        found.append(content[at : at + size])
        at += size
    return content[:24], found


def spread(operations: pa.Table, apart: int) -> pa.Table:
    """Return operations that are ``apart`` microseconds apart."""
    first = operations["time"][0].value
    times = pa.array([first + number * apart for number in range(len(operations))])
    took = pc.subtract(
        operations["reply_time"].cast(pa.int64()), operations["time"].cast(pa.int64())
    )
    for name, column in (("time", times), ("reply_time", pc.add(times, took))):
        place = operations.schema.get_field_index(name)
        field = operations.schema.field(name)
        operations = operations.set_column(place, field, column.cast(TIME))
    return operations


def split(capture: Path, into: Path, sizes: list[int]) -> list[Path]:
    """Write a capture's packets into files of ``sizes`` packets; name the later ones first."""
    into.mkdir()
    header, frames = packets(capture)
    paths = []
    for number, size in enumerate([*sizes, len(frames)]):
        some, frames = frames[:size], frames[size:]
        paths.append(into / f"{99 - number}.pcap")
        paths[-1].write_bytes(header + b"".join(some))
    return paths


def text_of(capture: Path) -> list[bytes]:
    """Return a capture as lines of nfsdump text."""
    found, printed = b"", TraceLines(str(capture))
    while (more := printed.next_lines()) is not None:
        found += more
    return found.splitlines(keepends=True)
