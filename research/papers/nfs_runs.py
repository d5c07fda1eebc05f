"""Runs of the benchmark of Ellard and Seltzer: machines, drives and files."""

from __future__ import annotations

import json
from functools import cache
from typing import Any, Literal

from birthmark.layout_hint.disks import read_drive
from birthmark.research.native import storage_bench, storage_files

MB = 2**20
READERS = (1, 2, 4, 8, 16, 32)
"""Concurrent readers: a set of files for each number."""

Disk = Literal["ide", "scsi"]
DRIVES = {"ide": "wd200bb", "scsi": "ddys36950"}
CLUSTERS = {"ide": 8, "scsi": 4}
"""Blocks of 16 KB that FreeBSD 4 moves at once: 128 KB for ATA, 64 KB for SCSI drives."""

LINK = 54_000_000
"""Bytes a second between drive, memory and network, as the authors measured."""

FIFO = {"fifo": {"depth": 64}}
AGED = {"aged": {"depth": 64, "weight": 1.0}}
"""Assumed behaviour of a drive with tagged queues: its order is not documented."""

LOCAL = {"local": {"processor_per_block": 90_000}}
"""A local process: nanoseconds to copy a block of 16 KB."""

SMALL = {"entries": 64, "probes": 4, "victim": "least_used"}
LARGE = {"entries": 1017, "probes": 32, "victim": "least_used"}
"""The table of files of FreeBSD 4, and the authors'."""

COMMON = {
    "call_bytes": 8192,
    "iods": 8,
    "client_copy": 40_000,
    "client_busy": 0,
    "latency": 20_000,
    "wire": 70_000,
    "nfsds": 8,
    "windows": [5_000_000, 10_000_000],
}
UDP = {
    "transport": {"udp": {"window": 32}},
    "client_send": 25_000,
    "client_receive": 30_000,
    "server_receive": 25_000,
    "server_answer": 60_000,
    "iod_delay": 10_000,
    "reader_delay": 10_000,
}
"""Client and server over UDP: processors' times, and the wake-up times of threads."""

TCP = UDP | {
    "transport": "tcp",
    "client_send": 50_000,
    "client_receive": 60_000,
    "server_receive": 50_000,
    "server_answer": 90_000,
}
BUSY = {"client_busy": 4}
"""A client with four other processes that never wait."""


def nfs(seed: int, heuristic: Any, table: dict[str, Any] = SMALL, **more: Any) -> dict[str, Any]:
    """Return client and server, over UDP unless ``more`` overrides it."""
    scattered = table | {"slots": {"scattered": seed}}
    return {"nfs": COMMON | UDP | {"heuristic": heuristic, "table": scattered} | more}


def run(
    disk: Disk,
    seed: int,
    at: dict[str, Any],
    *,
    readers: int = 1,
    partition: int = 1,
    order: str = "elevator",
    tags: dict[str, Any] | None = None,
    strides: int = 1,
    size: int = 256 * MB,
) -> dict[str, Any]:
    """Run the benchmark once; return the result of ``storage_bench``, and the rate in MB/s."""
    setup = {
        "drive": _drive(disk),
        "files": _files(disk, partition, seed, size, readers),
        "order": order,
        "tags": tags,
        "cluster": {"version": "v4", "block": 16384, "cluster": CLUSTERS[disk], "buffers": 4096},
        "link_bytes_per_second": LINK,
        "bytes": size,
        "readers": readers,
        "strides": strides,
        "seed": seed,
        "at": at,
    }
    found: dict[str, Any] = json.loads(storage_bench(json.dumps(setup)))
    return found | {"rate": size / MB / (found["ends"][-1] / 1e9)}


@cache
def _files(disk: Disk, partition: int, seed: int, size: int, readers: int) -> list[dict[str, Any]]:
    """Return the positions of files for this many readers, written after those of fewer."""
    sectors = _drive(disk)["sectors"]
    sets = (number for number in READERS if number <= readers)
    files = {
        "partition": {"start": sectors * (partition - 1) // 4, "end": sectors * partition // 4},
        "bytes": [size // number for number in sets for _ in range(number)],
        "seed": seed,
    }
    placed: list[dict[str, Any]] = json.loads(storage_files(json.dumps(files)))
    return placed[-readers:]


@cache
def _drive(disk: Disk) -> dict[str, Any]:
    return read_drive(DRIVES[disk]).parameters()
