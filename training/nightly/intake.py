"""Which traces the nightly run has taken in, and the datasets that it made of them.

    <datasets>/ledger.json              every trace ever taken in: path, size, time of change
    <datasets>/<since>-<hash>/          one night's dataset, as `data.ingest.decoded` writes it
    <datasets>/<since>-<server>-<hash>/     likewise of one server of several, and of one day
    <datasets>/<since>-<hash>/intake.json   the traces it is of, their period, the births of each
                                        day, the summary, and checksums of the tables that models
                                        learn from
    <datasets>/.incoming/<hash>/        a trace that is decoded, until its dataset is there

A dataset appears whole, its traces named in it. The ledger follows; it lets a dataset be deleted
without its traces being taken in again.
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
    """A trace file as it was when taken in."""

    path: str
    size: int
    mtime_ns: int

    @classmethod
    def of(cls, path: Path) -> Entry:
        """Return a file as it is."""
        status = path.stat()
        return cls(str(path), status.st_size, status.st_mtime_ns)

    @property
    def fingerprint(self) -> str:
        """Hexadecimal digits that stand for it."""
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
    """Return the datasets in `directory` that hold any file, in the order of their ends."""
    found = []
    for path in directory.glob(f"[!.]*/{INTAKE}"):
        told = json.loads(path.read_bytes())
        if told["period"] is not None:
            since, until = map(datetime.fromisoformat, told["period"])
            # Those of before births were told say at least how many files they saw.
            born = told.get("births", {f"{until:%F}": told["summary"]["rows"]["files"]})
            days = {date.fromisoformat(day): count for day, count in born.items()}
            found.append(Dataset(path.parent, since, until, days))
    return sorted(found, key=lambda dataset: (dataset.until, dataset.path))


def check(dataset: Path) -> None:
    """Raise ValueError unless the tables that models learn from are as they were written."""
    told = json.loads((dataset / INTAKE).read_bytes())
    for name, expected in told.get("tables", {}).items():
        found = describe(dataset / name) if (dataset / name).exists() else None
        if found != expected:
            raise ValueError(f"{dataset / name}: expected {expected}, found {found}")


def new_traces(
    traces: Traces, directory: Path, servers: Sequence[Server] = ()
) -> dict[str, list[Entry]]:
    """Return the trace files that have not been taken in, but for those still being written.

    A time of change far ahead, as of a clock that was set back since, is not waited for. They are
    given by server, those of `traces` under no name, in the order of their paths. A file that
    several name is of the first.
    """
    found: dict[str, list[Entry]] = {}
    for name, entry in _unknown(traces, directory, servers):
        if _is_settled(entry, traces):
            found.setdefault(name, []).append(entry)
    return found


def waiting(traces: Traces, directory: Path, servers: Sequence[Server] = ()) -> list[str]:
    """Return the paths of the trace files that may still be growing, so that they are left."""
    unknown = _unknown(traces, directory, servers)
    return [entry.path for _, entry in unknown if not _is_settled(entry, traces)]


def _is_settled(entry: Entry, traces: Traces) -> bool:
    return abs(time.time() - entry.mtime_ns / 1e9) >= traces.settle_seconds


def _unknown(
    traces: Traces, directory: Path, servers: Sequence[Server]
) -> Iterator[tuple[str, Entry]]:
    """Give each trace file that has not been taken in once, with its server's name."""
    seen = set(known(directory))
    for name, globs in [("", traces.files), *((s.name, s.files) for s in servers)]:
        for path in matching(globs):
            entry = Entry.of(path)
            if entry not in seen:
                seen.add(entry)
                yield name, entry


def unreadable(found: Mapping[str, Sequence[Entry]], directory: Path) -> dict[str, str]:
    """Decode the traces for `take_in`; return by path the reason why one cannot be taken in.

    It is no trace, or not to be read, or Parquet that is damaged, or most of it is later than this
    host's clock. Other damage is set aside. Each
    trace is a task of the current engine. What a run that was killed has decoded is not decoded
    again.
    """
    entries = [entry for entries in found.values() for entry in entries]
    parts = [directory / INCOMING / entry.fingerprint for entry in entries]
    tried = delayed(_decode)
    reasons = current().run(
        tried(entry.path, part) for entry, part in zip(entries, parts, strict=True)
    )
    return {entry.path: why for entry, why in zip(entries, reasons, strict=True) if why}


def _decode(trace: str, part: Path) -> str | None:
    """Decode a trace, or return why it cannot be."""
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

    Those under no name become one; those of a server with a name one for each day, UTC, on which
    any of them begins. Each trace that is not decoded is a task of the current engine, then each
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
    settle(directory)
    return paths


def settle(directory: Path, found: Mapping[str, Sequence[Entry]] = MappingProxyType({})) -> None:
    """Remember the traces of all datasets, and remove what a run that was killed has left.

    What that has decoded of those `found`, which are still to be taken in, stays. Only who holds
    the lock of the nightly run may do this.
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
    """Return traces as they begin, whatever they are called: lives are followed through them."""
    return sorted(entries, key=lambda entry: (Decoded(parts[entry]).period or (0, 0))[0])


def _by_day(
    server: str, entries: Sequence[Entry], parts: Mapping[Entry, Path]
) -> Iterator[tuple[str, list[Entry]]]:
    """Yield the traces of each day; all at once where no server is named."""
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
    """Return what a dataset is called whose first operation was then, microseconds; None: none."""
    since = "empty" if began is None else f"{_time(began):%Y%m%dT%H%M%SZ}"
    return "-".join(filter(None, (since, server, _fingerprint(entries)[:6])))


def _make(path: Path, entries: Sequence[Entry], parts: Sequence[Path]) -> None:
    """Make a dataset of traces that are decoded, whole or not at all; one that is there stays."""
    durable.made(path, lambda aside: _write(aside, path, entries, parts))


def _write(aside: Path, path: Path, entries: Sequence[Entry], parts: Sequence[Path]) -> None:
    summary = combine(parts, aside, known_as=path)
    told = about(entries, summary, aside)
    (aside / INTAKE).write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def about(entries: Sequence[Entry], summary: IngestSummary, dataset: Path) -> dict[str, Any]:
    """Return what is told of a dataset beside it: of which traces it is, and of its tables."""
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
    """Return the first and last operation's times; None where no file was seen."""
    if summary.period is None or not summary.rows["files"]:
        return None
    return [_time(micros).isoformat() for micros in summary.period]


def _births(dataset: Path) -> dict[str, int]:
    """Return how many files were born on each day."""
    born = births(read_table(dataset, "files", ["kind", "birth_seen", "born"]))["born"]
    days, counts = np.unique(np.asarray(born.cast(pa.int64())) // DAY, return_counts=True)
    return {
        f"{_time(int(day) * DAY):%F}": int(count) for day, count in zip(days, counts, strict=True)
    }


def set_aside(dataset: Path) -> dict[str, int]:
    """Return how many records of a dataset's traces were set aside, by reason."""
    return dict(_summary(dataset)["records_set_aside"])


def operations(dataset: Path) -> int:
    """Return how many operations a dataset was made of."""
    return int(_summary(dataset)["rows"]["operations"])


def warnings(dataset: Path) -> list[str]:
    """Return what was said of a dataset's traces when they were taken in."""
    return list(_summary(dataset).get("warnings", []))


def _summary(dataset: Path) -> dict[str, Any]:
    told: dict[str, Any] = json.loads((dataset / INTAKE).read_bytes())["summary"]
    return told


def in_micros(time: datetime) -> int:
    """Return a time as microseconds since the epoch."""
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _time(micros: int) -> datetime:
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)


def _fingerprint(entries: Sequence[Entry]) -> str:
    text = json.dumps([asdict(entry) for entry in entries])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def known(directory: Path) -> dict[Entry, None]:
    """Return the traces that were taken in, each once."""
    ledger = directory / _LEDGER
    told = json.loads(ledger.read_bytes()) if ledger.exists() else []
    for path in sorted(directory.glob(f"[!.]*/{INTAKE}")):
        told += json.loads(path.read_bytes())["traces"]
    return dict.fromkeys(Entry(**entry) for entry in told)


def remember(directory: Path) -> None:
    """Note in the ledger the traces of all datasets, so that these may go."""
    told = [asdict(entry) for entry in known(directory)]
    text, ledger = json.dumps(told, indent=1) + "\n", directory / _LEDGER
    if told and not (ledger.exists() and ledger.read_text(encoding="utf-8") == text):
        durable.write_text(ledger, text)
