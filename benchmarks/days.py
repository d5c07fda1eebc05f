"""Days of traffic for benchmarks: from traces or datasets, or generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

import features
from benchmarks.workloads import RATES
from data.datasets import read_files, read_names
from data.ingest import ingest
from data.workloads import Workload
from data.workloads.output import write
from data.workloads.profile import read_profile
from training.train import Lives


@dataclass(frozen=True)
class Day:
    """What lived in one day, or in whatever stretch of time stands for one.

    ``files`` and ``names`` are tables of ``data.schema``, births and all else, where it can be told
    with the column ``history``: what was seen before each birth, on this day and those before it.
    """

    name: str
    files: pa.Table
    names: pa.Table


def read_days(paths: Sequence[Path], scratch: Path) -> list[Day]:
    """Read days, in the order of their time: each a dataset, a trace, or a folder of traces.

    Traces are ingested into ``scratch``.
    """
    days = []
    for number, path in enumerate(paths):
        dataset = path
        if not (path / "files").is_dir():
            dataset = scratch / str(number)
            traces = sorted(each for each in path.rglob("*") if each.is_file())
            ingest(traces if path.is_dir() else [path], dataset)
        days.append(Day(path.name, read_files(dataset), read_names(dataset)))
    return days


def generated_days(name: str, days: int, seed: int, scratch: Path, rate: float = 1.0) -> list[Day]:
    """Generate a workload of whole days; ``rate`` scales that of ``benchmarks.workloads``."""
    start = read_profile(name).start
    trace, dataset = scratch / f"{name}.parquet", scratch / name
    write(Workload(name, seed, start, days, rate * RATES[name]), trace)
    ingest([trace], dataset)
    midnight = datetime.fromisoformat(start).replace(tzinfo=UTC)
    whole = Lives((name,), read_files(dataset), read_names(dataset))
    found = []
    for number in range(days):
        since = midnight + timedelta(days=number)
        # files that were there before the first day are of the first: directories, most of them
        part = whole.born(since=since, before=since + timedelta(days=1))
        found.append(Day(f"{name}-{number + 1}", part.files, part.names))
    return found


def with_history(days: Sequence[Day]) -> list[Day]:
    """Return days, in the order of their time, with what each birth could know of earlier ones."""
    if not hasattr(features, "History"):
        return list(days)
    kept = {"files": features.History(), "names": features.History()}

    def follow(kind: str, table: pa.Table) -> pa.Table:
        return table.append_column("history", kept[kind].follow(table))

    return [Day(d.name, follow("files", d.files), follow("names", d.names)) for d in days]
