"""Followed hours combined into one dataset, the same as ingest makes of their capture.

A follower writes a life when it ends. A dataset also has the lives that outlast it: those known
when its last hour ended (`data.follow.state`). They get rows again when they end in a later hour,
so a dataset omits lives first seen before its own hours.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from birthmark.data.datasets import ingests
from birthmark.data.datasets.tables import TABLES, DatasetWriter, read_table, server_of
from birthmark.data.follow import state
from birthmark.data.ingest.lives import take_rest
from birthmark.data.ingest.loss import Losses
from birthmark.data.ingest.summary import IngestSummary, TraceSummary
from birthmark_native import LivesBuilder

LINKED = ("operations", "messages", "loss")
"""The tables whose files are linked unchanged."""


@dataclass(frozen=True)
class HourRange:
    """Consecutive followed hours.

    Attributes:
        hours: their datasets.
        since: lives first seen before this time, in microseconds since the epoch, are omitted;
            None: none are.
        living: the lives known at the end of the hours, as `LivesBuilder.save` wrote them.
    """

    hours: Sequence[Path]
    since: int | None = None
    living: Path | None = None


def finished(out: Path) -> tuple[list[Path], state.State | None]:
    """Return the hours that a follower has finished, oldest first, and the state at their end.

    An hour that is finished meanwhile is left for the next call.

    Raises ValueError if the state is damaged.
    """
    last = state.newest(out)
    made = {path: path.stat().st_mtime_ns for path in out.glob(f"[!.]*/{ingests.FOLDER}/*.json")}
    hours = sorted(made, key=lambda path: (made[path], path))
    if last is not None:
        ends = [number for number, path in enumerate(hours) if path.parts[-3] == last.dataset]
        hours = hours[: ends[-1] + 1] if ends else hours
    return [record.parent.parent for record in hours], last


def combine(hour_range: HourRange, out: Path, known_as: Path | None = None) -> IngestSummary:
    """Make a dataset in the empty directory `out`; the hours do not change.

    `known_as` is the dataset's name in the summary, if it is to be renamed.

    Raises:
        OSError: an hour or the lives cannot be read, or the dataset cannot be written.
        ValueError: one of these is damaged.
    """
    records = [record for hour in hour_range.hours for record in ingests.records(hour).values()]
    summary = _sum(str(known_as or out), records)
    losses, rows = Losses(), Counter(summary.rows)
    with DatasetWriter(out, servers=_servers(hour_range.hours)) as dataset:
        for number, hour in enumerate(hour_range.hours, start=1):
            _link(dataset, hour, number)
            for batch in read_table(hour, "loss").to_batches():
                losses.add(batch)
        for table in ("files", "names"):
            rows[table] = 0
        for table, batch in _lives(hour_range):
            own = batch if hour_range.since is None else _seen_since(batch, hour_range.since)
            dataset.write(table, own)
            rows[table] += own.num_rows
        summary.loss, summary.rows = losses.estimate(), {table: rows[table] for table in TABLES}
        dataset.write_record(summary.record())
    return summary


def _lives(hour_range: HourRange) -> Iterable[tuple[str, pa.RecordBatch]]:
    for hour in hour_range.hours:
        for table in ("files", "names"):
            yield from ((table, batch) for batch in read_table(hour, table).to_batches())
    if hour_range.living is not None:
        for rest in take_rest(LivesBuilder.load(hour_range.living)):
            yield from rest


def _seen_since(batch: pa.RecordBatch, since: int) -> pa.RecordBatch:
    return batch.filter(pc.greater_equal(batch["first_seen"].cast(pa.int64()), since))


def _servers(hours: Iterable[Path]) -> list[str]:
    folders = (path for hour in hours for path in hour.glob("*/server=*"))
    return sorted({server_of(path.name) for path in folders})


def _link(dataset: DatasetWriter, hour: Path, number: int) -> None:
    """Hard-link files of an hour into a dataset, under names that no other hour uses."""
    for table in LINKED:
        for path in ingests.table_files(hour, table):
            place = path.relative_to(hour)
            name = f"{dataset.number}-{number}-{place.name}"
            dataset.add_file(path, place.with_name(name))
    for path in hour.glob("quarantine/*.jsonl"):
        dataset.add_file(path, Path("quarantine", f"{dataset.number}-{number}-{path.name}"))


def _sum(out: str, records: Iterable[Mapping[str, Any]]) -> IngestSummary:
    summary = IngestSummary(out)
    names = {each.name for each in fields(summary)} - {"out", "traces", "period", "loss", "seconds"}
    for record in records:
        for name in names:
            setattr(summary, name, _added(getattr(summary, name), record[name]))
        summary.traces += [TraceSummary(**each) for each in record["traces"]]
        if record["period"]:
            first, last = record["period"]
            known = summary.period or (first, last)
            summary.period = (min(known[0], first), max(known[1], last))
    return summary


def _added(one: Any, other: Any) -> Any:
    if isinstance(one, Mapping):
        return dict(one) | {
            name: _added(one[name], value) if name in one else value
            for name, value in other.items()
        }
    return one + other
