"""The traces that the nightly run has ingested, and their datasets.

    <datasets>/ledger.json              every trace ever ingested: path, size, time of change
    <datasets>/<since>-<hash>/          one night's dataset, as `data.ingest.decoded` writes it
    <datasets>/<since>-<server>-<hash>/     the same for one of several servers, and one day
    <datasets>/<since>-<hash>/intake.json   its traces, their period, the births of each day, the
                                        summary, and checksums of the tables for training
    <datasets>/.incoming/<hash>/        a decoded trace, until its dataset is complete

A dataset appears atomically and names its traces. The ledger is updated later; because of it, the
traces of a deleted dataset are not ingested again.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
from joblib import delayed

from birthmark.data.common import durable
from birthmark.data.common.durations import DAY
from birthmark.data.datasets.ingests import table_files
from birthmark.data.datasets.tables import read_table
from birthmark.data.ingest.decoded import Decoded, combine, decode
from birthmark.data.ingest.summary import IngestSummary
from birthmark.data.traces.reader import open_trace
from birthmark.predictor import births
from birthmark.training.config import Server, Traces
from birthmark.training.engine import SCRATCH, current
from birthmark.training.nightly.trace_files import matching
from birthmark.training.registry.manifests import describe

INTAKE = "intake.json"
_LEDGER = "ledger.json"
INCOMING = ".incoming"
_LEARNED = ("files", "names")


@dataclass(frozen=True)
class Entry:
    """A trace file at the time of ingestion."""

    path: str
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Entry:
        """Return the entry of a file."""
        status = path.stat()
        return cls(str(path), status.st_size, status.st_mtime_ns)

    @property
    def fingerprint(self) -> str:
        """A hash of the entry, in hexadecimal."""
        return _fingerprint([self])


@dataclass(frozen=True)
class Dataset:
    """One night's dataset, and the period from its first to its last operation on a file.

    `births` counts the files born on each day, UTC.
    """

    path: Path
    since: datetime
    until: datetime
    births: Mapping[date, int]


def datasets(directory: Path) -> list[Dataset]:
    """Return the datasets in `directory` with any file, ordered by their ends."""
    found = []
    for path in directory.glob(f"[!.]*/{INTAKE}"):
        intake = json.loads(path.read_bytes())
        if intake["period"] is not None:
            since, until = map(datetime.fromisoformat, intake["period"])
            # Older intake files lack `births`; use the file count as an approximation.
            born = intake.get("births", {f"{until:%F}": intake["summary"]["rows"]["files"]})
            days = {date.fromisoformat(day): count for day, count in born.items()}
            found.append(Dataset(path.parent, since, until, days))
    return sorted(found, key=lambda dataset: (dataset.until, dataset.path))


def check(dataset: Path) -> None:
    """Raise ValueError unless the tables for training are as they were written."""
    intake = json.loads((dataset / INTAKE).read_bytes())
    for name, expected in intake.get("tables", {}).items():
        found = describe(dataset / name) if (dataset / name).exists() else None
        if found != expected:
            raise ValueError(f"{dataset / name}: expected {expected}, found {found}")


def new_traces(
    traces: Traces, directory: Path, servers: Sequence[Server] = ()
) -> dict[str, list[Entry]]:
    """Return the new trace files by server, except those that may still be growing.

    A time of change far in the future, from a clock that was set back, is ignored. Files of
    `traces` have an empty server name. Files are ordered by path; a file that several servers name
    belongs to the first.
    """
    found: dict[str, list[Entry]] = {}
    for name, entry in _unknown(traces, directory, servers):
        if _is_settled(entry, traces):
            found.setdefault(name, []).append(entry)
    return found


def waiting(traces: Traces, directory: Path, servers: Sequence[Server] = ()) -> list[str]:
    """Return the paths of trace files that may still be growing."""
    unknown = _unknown(traces, directory, servers)
    return [entry.path for _, entry in unknown if not _is_settled(entry, traces)]


def _is_settled(entry: Entry, traces: Traces) -> bool:
    return abs(time.time() - entry.mtime_ns / 1e9) >= traces.settle_seconds


def _unknown(
    traces: Traces, directory: Path, servers: Sequence[Server]
) -> Iterator[tuple[str, Entry]]:
    """Yield each new trace file once, with its server's name."""
    yielded = set(known(directory))
    for name, globs in [("", traces.files), *((s.name, s.files) for s in servers)]:
        for path in matching(globs):
            entry = Entry.of(path)
            if entry not in yielded:
                yielded.add(entry)
                yield name, entry


def decode_new_traces(found: Mapping[str, Sequence[Entry]], directory: Path) -> dict[str, str]:
    """Decode the traces for `take_in`; return the reasons for refused traces, by path.

    A trace is refused if it is no trace, cannot be read, is damaged Parquet, or lies mostly in the
    future. Other damage is set aside. Each trace is a task of the current engine. Traces decoded by
    a killed run are not decoded again.
    """
    entries = [entry for entries in found.values() for entry in entries]
    parts = [directory / INCOMING / entry.fingerprint for entry in entries]
    tried = delayed(_decode)
    reasons = current().run(
        tried(entry.path, part) for entry, part in zip(entries, parts, strict=True)
    )
    return {entry.path: why for entry, why in zip(entries, reasons, strict=True) if why}


def _decode(trace: str, part: Path) -> str | None:
    """Decode a trace, or return the reason for refusing it."""
    try:
        open_trace(trace)
    except (OSError, ValueError) as error:
        return str(error)
    try:
        decode(trace, part)
    except ValueError as error:
        return str(error)
    return None


def take_in(found: Mapping[str, Sequence[Entry]], directory: Path) -> list[Path]:
    """Make datasets in `directory` of the traces of each server; return their paths, in order.

    Traces without a server become one dataset; those of a named server one for each day (UTC) on
    which any of them begins. Each trace to decode is a task of the current engine, then each
    dataset.
    """
    incoming, workers = directory / INCOMING, current()
    parts = {entry: incoming / entry.fingerprint for entries in found.values() for entry in entries}
    left = [(entry.path, part) for entry, part in parts.items() if not part.exists()]
    workers.run(delayed(decode)(*each) for each in left)
    days = [
        day
        for name, entries in found.items()
        for day in _by_day(name, _in_order(entries, parts), parts)
    ]
    paths = [directory / _name(name, entries, parts) for name, entries in days]
    workers.run(
        delayed(_make)(path, entries, [parts[entry] for entry in entries])
        for path, (_, entries) in zip(paths, days, strict=True)
    )
    clean_up_interrupted(directory)
    return paths


def clean_up_interrupted(
    directory: Path, found: Mapping[str, Sequence[Entry]] = MappingProxyType({})
) -> None:
    """Remember the traces of all datasets, and remove leftovers of a killed run.

    Decoded traces among `found`, which are yet to be ingested, stay. Call only while holding the
    lock of the nightly run.
    """
    remember(directory)
    incoming = directory / INCOMING
    keep = {incoming / entry.fingerprint for entries in found.values() for entry in entries}
    for path in (*durable.left_in(directory), *directory.glob(f"{SCRATCH}*"), *incoming.glob("*")):
        if path not in keep:
            durable.remove(path)
    if not keep:
        durable.remove(incoming)


def _in_order(entries: Sequence[Entry], parts: Mapping[Entry, Path]) -> list[Entry]:
    """Return traces in the order of their beginnings, as lives continue across them."""
    return sorted(entries, key=lambda entry: (Decoded(parts[entry]).period or (0, 0))[0])


def _by_day(
    server: str, entries: Sequence[Entry], parts: Mapping[Entry, Path]
) -> Iterator[tuple[str, list[Entry]]]:
    """Yield the traces of each day; all together without a server."""
    days: dict[str, list[Entry]] = {}
    for entry in entries:
        period = Decoded(parts[entry]).period
        day = f"{_time(period[0]):%F}" if server and period else ""
        days.setdefault(day, []).append(entry)
    return ((server, days[day]) for day in sorted(days))


def _name(server: str, entries: Sequence[Entry], parts: Mapping[Entry, Path]) -> str:
    periods = [Decoded(parts[entry]).period for entry in entries]
    starts = [period[0] for period in periods if period]
    return named(entries, min(starts, default=None), server)


def named(entries: Sequence[Entry], began: int | None, server: str = "") -> str:
    """Return the name of a dataset by the time of its first operation, microseconds; None: none."""
    since = "empty" if began is None else f"{_time(began):%Y%m%dT%H%M%SZ}"
    return "-".join(filter(None, (since, server, _fingerprint(entries)[:6])))


def _make(path: Path, entries: Sequence[Entry], parts: Sequence[Path]) -> None:
    """Make a dataset of decoded traces atomically; an existing one stays."""
    durable.made(path, lambda temporary: _write(temporary, path, entries, parts))


def _write(temporary: Path, path: Path, entries: Sequence[Entry], parts: Sequence[Path]) -> None:
    summary = combine(parts, temporary, known_as=path)
    intake = about(entries, summary, temporary)
    (temporary / INTAKE).write_text(json.dumps(intake, indent=2) + "\n", encoding="utf-8")


def about(entries: Sequence[Entry], summary: IngestSummary, dataset: Path) -> dict[str, Any]:
    """Return the intake of a dataset: its traces, and its tables' checksums."""
    return {
        "traces": [asdict(entry) for entry in entries],
        "period": _period(summary),
        "births": _births(dataset),
        "summary": summary.record(),
        "tables": {
            path.relative_to(dataset).as_posix(): describe(path)
            for table in _LEARNED
            for path in table_files(dataset, table)
        },
    }


def _period(summary: IngestSummary) -> list[str] | None:
    """Return the first and last operation's times; None if no file was seen."""
    if summary.period is None or not summary.rows["files"]:
        return None
    return [_time(micros).isoformat() for micros in summary.period]


def _births(dataset: Path) -> dict[str, int]:
    """Return the number of births on each day."""
    born = births(read_table(dataset, "files", ["kind", "birth_seen", "born"]))["born"]
    days, counts = np.unique(np.asarray(born.cast(pa.int64())) // DAY, return_counts=True)
    return {
        f"{_time(int(day) * DAY):%F}": int(count) for day, count in zip(days, counts, strict=True)
    }


def set_aside(dataset: Path) -> dict[str, int]:
    """Return the numbers of records set aside from a dataset's traces, by reason."""
    return dict(_summary(dataset)["records_set_aside"])


def operations(dataset: Path) -> int:
    """Return the number of operations in a dataset."""
    return int(_summary(dataset)["rows"]["operations"])


def warnings(dataset: Path) -> list[str]:
    """Return the warnings about a dataset's traces at their ingestion."""
    return list(_summary(dataset).get("warnings", []))


def estimated_loss(dataset: Path) -> float | None:
    """Return the share of a dataset's messages that were lost; None if unknown."""
    loss = _summary(dataset).get("loss")
    return None if loss is None else float(loss["fraction"])


def _summary(dataset: Path) -> dict[str, Any]:
    summary: dict[str, Any] = json.loads((dataset / INTAKE).read_bytes())["summary"]
    return summary


def in_micros(time: datetime) -> int:
    """Return a time as microseconds since the epoch."""
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _time(micros: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


def _fingerprint(entries: Sequence[Entry]) -> str:
    text = json.dumps([asdict(entry) for entry in entries])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def known(directory: Path) -> dict[Entry, None]:
    """Return the ingested traces, each once."""
    ledger = directory / _LEDGER
    entries = json.loads(ledger.read_bytes()) if ledger.exists() else []
    for path in sorted(directory.glob(f"[!.]*/{INTAKE}")):
        entries += json.loads(path.read_bytes())["traces"]
    return dict.fromkeys(Entry(**entry) for entry in entries)


def remember(directory: Path) -> None:
    """Add the traces of all datasets to the ledger, so that datasets can be removed."""
    entries = [asdict(entry) for entry in known(directory)]
    text, ledger = json.dumps(entries, indent=1) + "\n", directory / _LEDGER
    if entries and not (ledger.exists() and ledger.read_text(encoding="utf-8") == text):
        durable.write_text(ledger, text)
