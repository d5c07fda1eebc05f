"""Builds of a few rows, for replays whose counts can be worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from birthmark.layout_hint import AskedCreate, native
from birthmark.layout_hint.rewrite.schema import MANIFEST, OPERATIONS

SECOND = 1_000_000


def trace(
    operations: list[dict[str, Any]], manifest: list[dict[str, Any]] | None = None
) -> native.LayoutTrace:
    """Return a build; ``time`` is in seconds, and other members have common values."""
    rows = []
    for place, row in enumerate(operations):
        time = round(row.get("time", 0) * SECOND)
        rows.append({"seq": place, "status": 0, "id": 0} | row | {"time": time})
    names = []
    for row in manifest or []:
        path = {"path": row["name"], "invented": False, "parent": 0, "kind": "file"}
        names.append(path | row)
    return native.LayoutTrace(
        pa.Table.from_pylist(names, MANIFEST).to_batches(),
        pa.Table.from_pylist(rows, OPERATIONS).to_batches(),
    )


def run(
    trace: native.LayoutTrace,
    hints: list[int] | None = None,
    image: bytes | None = None,
    service: Callable[[AskedCreate, float], int] | None = None,
    **config: Any,
) -> tuple[dict[str, Any], dict[int, tuple[int, int]], native.LayoutRun]:
    """Replay at the trace's own pace from its start; return summary, counts per block, and run."""
    given = {"pace": "trace", "warmup_seconds": 0, "operation_us": 0, **config}
    array = None if hints is None else pa.array(hints, pa.uint8())
    found = trace.run(json.dumps(given), array, image, service=service)
    counts = found.counts().to_pylist()
    summary = json.loads(found.summary)
    assert summary["inconsistency"] is None
    return summary, {c["block"]: (c["reads"], c["writes"]) for c in counts}, found


def create(time: float, name: bytes, made: int, **more: Any) -> dict[str, Any]:
    """A create of a file in the root."""
    return {"time": time, "op": "create", "name": name, "new_id": made, **more}


def write(time: float, made: int, offset: int, count: int) -> dict[str, Any]:
    """A write."""
    return {"time": time, "op": "write", "id": made, "offset": offset, "count": count}


def read(time: float, made: int, offset: int, count: int) -> dict[str, Any]:
    """A read."""
    return {"time": time, "op": "read", "id": made, "offset": offset, "count": count}


def remove(time: float, name: bytes) -> dict[str, Any]:
    """A remove from the root."""
    return {"time": time, "op": "remove", "name": name}


def later(time: float) -> dict[str, Any]:
    """An operation that changes nothing, so that time goes on."""
    return {"time": time, "op": "fsstat"}
