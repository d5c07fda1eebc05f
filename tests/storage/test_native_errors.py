"""Every reason for a refusal by the storage simulator's extension module."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa

from birthmark.storage import native
from birthmark.storage.what_if.server import Server
from tests.refusals import Refusals

# A drive's parameters are checked before it is simulated: tests/layout_hint/test_native_errors.py.
refused = Refusals(native, set(), elsewhere={"Drive"})


def simulated_server(**changes: object) -> native.StorageServer:
    described = json.loads(Server().for_simulator()) | changes
    return native.StorageServer(json.dumps(described), '"open"', 1)


@refused("ServerJson")
def _(_folder: Path) -> object:
    return native.StorageServer("{}", '"open"', 1)


@refused("ServerError.Least")
def _(_folder: Path) -> object:
    return simulated_server(threads=0)


@refused("ServerError.Warm")
def _(_folder: Path) -> object:
    return simulated_server(warm=2.0)


@refused("ServerError.Region")
def _(_folder: Path) -> object:
    disks = json.loads(Server().for_simulator())["disks"]
    return simulated_server(disks=disks | {"region": 1 << 30})


@refused("ServerError.Classes")
def _(_folder: Path) -> object:
    return simulated_server(work=[])


@refused("ServerError.Work")
def _(_folder: Path) -> object:
    return simulated_server(work=[{"quantiles": [], "per_byte": 0.0}] * 12)


@refused("Calls")
def _(_folder: Path) -> object:
    return simulated_server().feed(pa.RecordBatch.from_pydict({"at": pa.array([1], pa.uint64())}))


@refused.each()
def test_each_reason_is_raised_as_its_exception(reason: str, tmp_path: Path) -> None:
    refused.check(reason, tmp_path)


def test_every_reason_is_raised_here_but_for_defects() -> None:
    refused.check_completeness()
