"""The result of an ingest: counts of all input, and of its destinations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

from birthmark.data.common.rates import per_second
from birthmark.data.datasets import ingests
from birthmark.data.generated import Mark, distinct
from birthmark.data.ingest.loss import Estimate
from birthmark.data.traces import unread
from birthmark.data.traces.tallies import add_up


@dataclass
class TraceSummary:
    """The contents of one trace file."""

    path: str
    format: str
    compression: str
    bytes: int  # after decompression
    records: int  # lines of text, RPC messages of a capture, rows of Parquet
    details: dict[str, Any]  # what only this format counts: lines, packets, …
    generated: Mark | None = None  # the workload, if the trace is generated


class Source(Protocol):
    """A trace, as a summary describes it."""

    path: str
    format: str
    compression: str
    generated: Mark | None


@dataclass
class IngestSummary:
    """The result of an ingest. Counts are of messages: a call sent twice is two calls.

    A compound of NFS version 4 is one message, in ``procedures``. ``compound_operations`` counts
    the operations in compounds likewise; ``not_run`` counts those that the server did not reach
    because an earlier one failed.

    ``records_in`` equals ``records_out`` plus ``records_set_aside``. ``others`` counts the servers
    that were too many to be kept separate, and their rows of operations and messages. ``warnings``
    name traces without NFS, traces with unreadable traffic, and traces that the dataset already
    holds.
    """

    out: str
    traces: list[TraceSummary] = field(default_factory=list)
    records_in: int = 0
    records_out: dict[str, int] = field(default_factory=dict)
    records_set_aside: dict[str, int] = field(default_factory=dict)
    procedures: dict[str, dict[str, int]] = field(default_factory=dict)
    compound_operations: dict[str, dict[str, int]] = field(default_factory=dict)
    not_run: dict[str, int] = field(default_factory=dict)
    calls_without_reply: dict[str, int] = field(default_factory=dict)
    replies_without_call: dict[str, int] = field(default_factory=dict)
    other_programs: dict[str, dict[str, int]] = field(default_factory=dict)
    retransmits: int = 0
    duplicate_replies: int = 0
    short: int = 0
    period: tuple[int, int] | None = None  # microseconds since the epoch, UTC
    loss: Estimate | None = None  # None: no trace reports it
    rows: dict[str, int] = field(default_factory=dict)
    others: dict[str, int] = field(default_factory=lambda: {"servers": 0, "rows": 0})
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def record(self) -> dict[str, Any]:
        """Return the reproducible part of the summary, for JSON."""
        summary = asdict(self) | {"generated": self.generated}
        del summary["seconds"]
        return summary

    def to_json(self) -> dict[str, Any]:
        """Return the summary for JSON, with the time it took, and the rates."""
        size = sum(each.bytes for each in self.traces)
        return self.record() | {
            "seconds": self.seconds,
            "records_per_second": per_second(self.records_in, self.seconds),
            "bytes_per_second": per_second(size, self.seconds),
        }

    @property
    def generated(self) -> list[Mark]:
        """The workloads of generated traces; empty if all are real."""
        return distinct(each.generated for each in self.traces if each.generated)

    @property
    def captures(self) -> list[dict[str, Any]]:
        """The counts that only captures have, for each."""
        return [of for each in self.traces if (of := each.details.get("capture"))]

    @property
    def unread(self) -> str | None:
        """The unreadable part of the captures (`data.traces.unread.sentence`)."""
        return unread.sentence(unread.total(self.captures))

    def add(self, trace: Source, counts: dict[str, Any]) -> None:
        """Add the contents of one trace."""
        self.warnings += unread.warnings(trace.path, counts)
        self.records_set_aside = _sums(self.records_set_aside, counts["damaged"])
        add_up(self.procedures, counts["procedures"])
        add_up(self.compound_operations, counts["compound_operations"])
        self.not_run = _sums(self.not_run, counts["not_run"])
        unanswered = {op: tally["unanswered"] for op, tally in counts["procedures"].items()}
        self.calls_without_reply = dict(Counter(self.calls_without_reply) + Counter(unanswered))
        self.replies_without_call = _sums(self.replies_without_call, counts["orphans"])
        for program, (calls, replies) in counts["other_programs"].items():
            add_up(self.other_programs, {str(program): {"calls": calls, "replies": replies}})
        for name in ("retransmits", "duplicate_replies", "short"):
            setattr(self, name, getattr(self, name) + counts[name])
        if counts["period"]:
            first, last = self.period or counts["period"]
            self.period = (min(first, counts["period"][0]), max(last, counts["period"][1]))
        self.records_out = dict(Counter(self.records_out) + Counter(_records_out(counts)))
        self.records_in += counts["records"]
        names = ("lines", "comments", trace.format)
        details: dict[str, Any] = {name: counts[name] for name in names if name in counts}
        self.traces.append(
            TraceSummary(
                trace.path,
                trace.format,
                trace.compression,
                counts["bytes"],
                counts["records"],
                details,
                trace.generated,
            )
        )


def held_already(dataset: Path, traces: Iterable[TraceSummary]) -> list[str]:
    """Warn of each trace that a dataset already holds, by name and size."""
    folder = dataset / ingests.FOLDER
    content_by_number = ingests.records(dataset) if folder.is_dir() else {}
    before = {
        (Path(each["path"]).name, each["bytes"], each["records"]): folder / f"{number}.json"
        for number, record in content_by_number.items()
        for each in record.get("traces", [])
    }
    found = ((each.path, (Path(each.path).name, each.bytes, each.records)) for each in traces)
    return [
        f"{path}: was ingested before, according to {before[known]}: its rows count twice"
        for path, known in found
        if known in before
    ]


def _records_out(counts: dict[str, Any]) -> dict[str, int]:
    """Return the destinations of a trace's records, quarantine excluded."""
    tallies = counts["procedures"].values()
    other = counts["other_programs"].values()
    return {
        "calls": sum(tally["calls"] for tally in tallies),
        "replies": sum(tally["replies"] for tally in tallies),
        "replies_without_call": sum(counts["orphans"].values()),
        "other_programs": sum(calls + replies for calls, replies in other),
        "comments": counts.get("comments", 0),
    }


def _sums(counts: dict[str, int], more: dict[str, int]) -> dict[str, int]:
    return dict(sorted((Counter(counts) + Counter(more)).items()))
