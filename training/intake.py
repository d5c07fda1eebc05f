"""Which traces the nightly run has taken in, and the datasets that it made of them.

    <datasets>/ledger.json              every trace ever taken in: path, size, time of change
    <datasets>/<since>-<hash>/          one night's dataset, as `data.ingest` writes it
    <datasets>/<since>-<hash>/intake.json   the traces it is of, their period, and the summary

A dataset appears whole, its traces named in it. The ledger follows; it lets a dataset be deleted
without its traces being taken in again.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from glob import glob
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
from data.datasets import read_files
from data.ingest import ingest

from training import durable
from training.config import Traces

INTAKE = "intake.json"
_LEDGER = "ledger.json"

Entry = dict[str, Any]
"""A trace file as it was when taken in: its `path`, `size` and `mtime_ns`."""


@dataclass(frozen=True)
class Dataset:
    """One night's dataset, and the period from its first to its last operation on a file."""

    path: Path
    since: datetime
    until: datetime


def datasets(directory: Path) -> list[Dataset]:
    """Return the datasets in `directory` that hold any file, in the order of their ends."""
    found = []
    for path in directory.glob(f"[!.]*/{INTAKE}"):
        period = json.loads(path.read_bytes())["period"]
        if period is not None:
            found.append(Dataset(path.parent, *map(datetime.fromisoformat, period)))
    return sorted(found, key=lambda dataset: (dataset.until, dataset.path))


def new_traces(traces: Traces, directory: Path) -> list[Entry]:
    """Return the trace files that have not been taken in, but for those still being written."""
    known = _known(directory)
    now = time.time()
    found = []
    # Path.glob takes no absolute pattern.
    matches = (glob(pattern, recursive=True) for pattern in traces.files)  # noqa: PTH207
    for path in sorted(path for path in map(Path, set().union(*matches)) if path.is_file()):
        status = path.stat()
        entry = {"path": str(path), "size": status.st_size, "mtime_ns": status.st_mtime_ns}
        if entry not in known and now - status.st_mtime >= traces.settle_seconds:
            found.append(entry)
    return found


def take_in(entries: Sequence[Entry], directory: Path) -> Path:
    """Ingest the traces of `entries` as one new dataset in `directory`; return its path."""
    incoming = directory / ".incoming"
    shutil.rmtree(incoming, ignore_errors=True)
    summary = ingest([Path(entry["path"]) for entry in entries], incoming)
    period = _period(incoming)
    about = {"traces": list(entries), "period": period, "summary": summary.to_json()}
    durable.write_text(incoming / INTAKE, json.dumps(about, indent=2) + "\n")
    durable.sync_tree(incoming)
    fingerprint = hashlib.sha256(json.dumps(list(entries)).encode()).hexdigest()[:6]
    since = datetime.fromisoformat(period[0]).strftime("%Y%m%dT%H%M%SZ") if period else "empty"
    path = directory / f"{since}-{fingerprint}"
    durable.rename(incoming, path)
    _remember(directory)
    return path


def _period(dataset: Path) -> tuple[str, str] | None:
    files = read_files(dataset)
    if not len(files):
        return None
    return (
        pc.min(files["first_seen"]).as_py().isoformat(),
        pc.max(files["observed_until"]).as_py().isoformat(),
    )


def _known(directory: Path) -> list[Entry]:
    ledger = directory / _LEDGER
    known: list[Entry] = json.loads(ledger.read_bytes()) if ledger.exists() else []
    for path in sorted(directory.glob(f"[!.]*/{INTAKE}")):
        known += [e for e in json.loads(path.read_bytes())["traces"] if e not in known]
    return known


def _remember(directory: Path) -> None:
    durable.write_text(directory / _LEDGER, json.dumps(_known(directory), indent=1) + "\n")
