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
from datetime import UTC, datetime
from glob import glob
from pathlib import Path
from typing import Any

from data import durable
from data.ingest import IngestSummary, ingest
from data.traces import open_trace
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
    """Return the trace files that have not been taken in, but for those still being written.

    They come in the order of their paths, which should be that of their time.
    """
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


def unreadable(entries: Sequence[Entry]) -> dict[str, str]:
    """Return by path the reason why a file cannot be taken in: it is no trace, or not to be read.

    Damage further on is the ingest's to set aside.
    """
    reasons = {}
    for entry in entries:
        try:
            open_trace(entry["path"])
        except (OSError, ValueError) as error:
            reasons[entry["path"]] = str(error)
    return reasons


def take_in(entries: Sequence[Entry], directory: Path) -> Path:
    """Ingest the traces of `entries` as one new dataset in `directory`; return its path."""
    incoming = directory / ".incoming"
    shutil.rmtree(incoming, ignore_errors=True)
    summary = ingest([Path(entry["path"]) for entry in entries], incoming)
    period = _period(summary)
    about = {"traces": list(entries), "period": period, "summary": summary.to_json()}
    durable.write_text(incoming / INTAKE, json.dumps(about, indent=2) + "\n")
    durable.sync_tree(incoming)
    fingerprint = hashlib.sha256(json.dumps(list(entries)).encode()).hexdigest()[:6]
    since = datetime.fromisoformat(period[0]).strftime("%Y%m%dT%H%M%SZ") if period else "empty"
    path = directory / f"{since}-{fingerprint}"
    durable.rename(incoming, path)
    _remember(directory)
    return path


def _period(summary: IngestSummary) -> list[str] | None:
    """Return the first and last operation's times; None where no file was seen."""
    if summary.period is None or not summary.rows["files"]:
        return None
    return [datetime.fromtimestamp(time / 1e6, UTC).isoformat() for time in summary.period]


def _known(directory: Path) -> list[Entry]:
    ledger = directory / _LEDGER
    known: list[Entry] = json.loads(ledger.read_bytes()) if ledger.exists() else []
    for path in sorted(directory.glob(f"[!.]*/{INTAKE}")):
        known += [e for e in json.loads(path.read_bytes())["traces"] if e not in known]
    return known


def _remember(directory: Path) -> None:
    durable.write_text(directory / _LEDGER, json.dumps(_known(directory), indent=1) + "\n")
