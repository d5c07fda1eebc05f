"""Runs of the simulated server over calls."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from birthmark.data.common.arrays import Floats
from birthmark.storage.native import StorageServer
from birthmark.storage.what_if.server import Server

Issue = Literal["open", "dependent"] | dict[Literal["outstanding"], int]
"""When calls come: as captured; as their callers wait for answers; or a constant number at once."""


@dataclass(frozen=True)
class Run:
    """A simulation: server, seed, issue model, and start of the measurement."""

    server: Server
    seed: int
    issue: Issue = "dependent"
    start: int = 0


def run(runs: Sequence[Run], calls: Iterable[pa.RecordBatch]) -> list[dict[str, Any]]:
    """Return the outcome of each run, in one pass over the calls."""
    servers = [_made(each) for each in runs]
    for batch in calls:
        for server in servers:
            server.feed(batch)
    return [json.loads(server.finish()) for server in servers]


def each_call(of: Run, calls: Iterable[pa.RecordBatch]) -> tuple[Floats, Floats, Floats]:
    """Return each call's arrival (ns), latency (μs), and bytes on disks."""
    server = _made(of, each=True)
    for batch in calls:
        server.feed(batch)
    server.finish()
    came, latency, disk = (np.asarray(column) for column in server.each())
    return came.astype(float), latency / 1e3, disk.astype(float)


def _made(of: Run, each: bool = False) -> StorageServer:
    return StorageServer(of.server.for_simulator(), json.dumps(of.issue), of.seed, of.start, each)
