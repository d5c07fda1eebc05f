"""Datasets of calls that a simulated server answered."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from birthmark.data.datasets.tables import DatasetWriter
from birthmark.data.schema import OPERATIONS, TIME, WORD, filled
from birthmark.storage.what_if.columns import CLASSES, UNKNOWN

START_US = 1_700_000_000_000_000
_OPS = {"list": "readdirplus", "other": "fsstat"}


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
        "client": pa.array([f"10.0.1.{own}" for own in columns["stream"]]).cast(WORD),
        "transport": pa.array(["tcp"] * count).cast(WORD),
        "version": pa.array([3] * count, pa.uint8()),
        "xid": rows,
        "op": pa.array([_OPS.get(kind, kind) for kind in kinds]).cast(WORD),
        **{name: pa.array([0] * count, pa.uint32()) for name in ("retransmits", "uid")},
        "duplicate_replies": pa.array([0] * count, pa.uint32()),
        "short": pa.array([False] * count),
        "fh": pa.array([int(own).to_bytes(4, "big") for own in columns["file"]], pa.binary()),
        "offset": pa.array(columns["offset"], pa.uint64()),
        "count": pa.array(columns["bytes"], pa.uint32()),
        "stable": pa.array(columns["stable"], pa.uint8()),
        "size": pa.array(columns["end"], pa.uint64(), mask=columns["end"] == UNKNOWN),
    }
    return filled(pa.RecordBatch.from_pydict(table), OPERATIONS)


def dataset(folder: Path, *batches: pa.RecordBatch) -> Path:
    """Write operations as a dataset; return its folder."""
    with DatasetWriter(folder) as writer:
        for batch in batches:
            writer.write("operations", batch)
        writer.write_record({})
    return folder
