"""Datasets of calls that a simulated server answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from birthmark.data.datasets.tables import DatasetWriter
from birthmark.data.schema import FILES, OPERATIONS, TIME, WORD, filled
from birthmark.storage.what_if.columns import CLASSES, UNKNOWN

START_US = 1_700_000_000_000_000
_OPS = {"list": "readdirplus", "other": "fsstat"}


def handles(files: Sequence[int]) -> pa.Array:
    """Return the handles of files of some numbers; null for 0."""
    encoded = [int(number).to_bytes(4, "big") if number else None for number in files]
    return pa.array(encoded, pa.binary())


def lives(*rows: Mapping[str, Any], server: str = "10.0.0.1") -> pa.RecordBatch:
    """Return rows of files, whose numbers are ``fh`` and times in μs, like those of calls."""
    table = [
        {
            "server": server,
            "kind": "file",
            "birth_seen": "born" in row,
            "death_seen": "died" in row,
            **dict.fromkeys(("operations", "reads", "writes", "bytes_read"), 0),
            "bytes_written": 0,
            **dict.fromkeys(("first_seen", "last_seen", "observed_until"), START_US),
        }
        | row
        | {"fh": handles([row["fh"]])[0].as_py()}
        | {name: row[name] + START_US for name in ("born", "died") if name in row}
        for row in rows
    ]
    return pa.RecordBatch.from_pylist(table, schema=FILES)


def operations(calls: pa.RecordBatch, server: str = "10.0.0.1") -> pa.RecordBatch:
    """Return rows of operations for calls, in the order of their replies."""
    columns = {name: calls[name].to_numpy() for name in calls.schema.names}
    order = np.argsort(columns["replied"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    seen = columns["replied"] != UNKNOWN
    kinds = [CLASSES[kind] for kind in columns["class"]]
    count, rows = len(order), pa.array(np.arange(len(order)), pa.uint32())
    replied = np.where(seen, columns["replied"] // 1000 + START_US, 0).astype(np.int64)
    at = (columns["at"] // 1000 + START_US).astype(np.int64)
    constant = {"server_port": pa.uint16(), "client_port": pa.uint16()}
    table = {
        "time": pa.array(at).cast(TIME),
        "reply_time": pa.array(replied, mask=~seen).cast(TIME),
        "server": pa.array([server] * count).cast(WORD),
        **{name: pa.array([2049] * count, kind) for name, kind in constant.items()},
        "client": pa.array([f"10.0.1.{number}" for number in columns["connection"]]).cast(WORD),
        "transport": pa.array(["tcp"] * count).cast(WORD),
        "version": pa.array([3] * count, pa.uint8()),
        "xid": rows,
        "op": pa.array([_OPS.get(kind, kind) for kind in kinds]).cast(WORD),
        "retransmits": pa.array([0] * count, pa.uint32()),
        "uid": pa.array(columns["stream"], pa.uint32()),
        "duplicate_replies": pa.array([0] * count, pa.uint32()),
        "short": pa.array([False] * count),
        "fh": handles(columns["file"]),
        "new_fh": handles(columns["target"]),
        "ftype": pa.array(columns["directory"] + 1, pa.uint8()),
        "set_size": pa.array(columns["end"], pa.uint64(), mask=columns["end"] == UNKNOWN),
        "offset": pa.array(columns["offset"], pa.uint64()),
        "count": pa.array(columns["bytes"], pa.uint32()),
        "stable": pa.array(columns["stable"], pa.uint8()),
        "size": pa.array(columns["end"], pa.uint64(), mask=columns["end"] == UNKNOWN),
    }
    return filled(pa.RecordBatch.from_pydict(table), OPERATIONS)


def dataset(folder: Path, *batches: pa.RecordBatch, files: pa.RecordBatch | None = None) -> Path:
    """Write operations as a dataset, and its table of files; return its folder."""
    with DatasetWriter(folder) as writer:
        for batch in batches:
            writer.write("operations", batch)
        if files is not None:
            writer.write("files", files)
        writer.write_record({})
    return folder
