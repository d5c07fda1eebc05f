"""Traces into a dataset: decode, join, follow the lives of files and names, write Parquet."""

from __future__ import annotations

import base64
import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from birthmark._native import LivesBuilder
from data.datasets import TABLES, DatasetWriter
from data.loss import Estimate, Losses
from data.traces import Trace, open_trace


@dataclass
class TraceSummary:
    """What one trace file held."""

    path: str
    format: str
    compression: str
    bytes: int  # after decompression
    records: int  # lines of text, RPC messages of a capture, rows of Parquet
    details: dict[str, Any]  # what only this format counts: lines, packets, …


@dataclass
class IngestSummary:
    """What an ingest did. Counts are of messages: a call sent twice is two calls.

    ``records_in`` equals ``records_out`` and ``records_set_aside`` together.
    """

    out: str
    traces: list[TraceSummary] = field(default_factory=list)
    records_in: int = 0
    records_out: dict[str, int] = field(default_factory=dict)
    records_set_aside: dict[str, int] = field(default_factory=dict)
    procedures: dict[str, dict[str, int]] = field(default_factory=dict)
    calls_without_reply: dict[str, int] = field(default_factory=dict)
    replies_without_call: dict[str, int] = field(default_factory=dict)
    other_programs: dict[str, dict[str, int]] = field(default_factory=dict)
    retransmits: int = 0
    duplicate_replies: int = 0
    short: int = 0
    period: tuple[int, int] | None = None  # microseconds since the epoch, UTC
    loss: Estimate | None = None  # None: no trace tells it
    rows: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON would have it, with the rates."""
        rate = {
            "records_per_second": round(self.records_in / self.seconds) if self.seconds else None,
            "bytes_per_second": round(sum(each.bytes for each in self.traces) / self.seconds)
            if self.seconds
            else None,
        }
        return asdict(self) | rate

    def add(self, trace: Trace, counts: dict[str, Any]) -> None:
        """Add what one trace held."""
        damaged = Counter(self.records_set_aside) + Counter(counts["damaged"])
        self.records_set_aside = dict(sorted(damaged.items()))
        _add_tallies(self.procedures, counts["procedures"])
        for op, tally in counts["procedures"].items():
            if tally["unanswered"]:
                self.calls_without_reply[op] = (
                    self.calls_without_reply.get(op, 0) + tally["unanswered"]
                )
        orphans = Counter(self.replies_without_call) + Counter(counts["orphans"])
        self.replies_without_call = dict(sorted(orphans.items()))
        for program, (calls, replies) in counts["other_programs"].items():
            _add_tallies(self.other_programs, {str(program): {"calls": calls, "replies": replies}})
        for name in ("retransmits", "duplicate_replies", "short"):
            setattr(self, name, getattr(self, name) + counts[name])
        if counts["period"]:
            first, last = self.period or counts["period"]
            self.period = (min(first, counts["period"][0]), max(last, counts["period"][1]))
        out = _records_out(counts)
        self.records_out = dict(Counter(self.records_out) + Counter(out))
        self.records_in += counts["records"]
        names = ("lines", "comments", "capture")
        details: dict[str, Any] = {name: counts[name] for name in names if name in counts}
        self.traces.append(
            TraceSummary(
                trace.path,
                trace.format,
                trace.compression,
                counts["bytes"],
                counts["records"],
                details,
            )
        )


def _records_out(counts: dict[str, Any]) -> dict[str, int]:
    """Where a trace's records went, quarantine apart."""
    tallies = counts["procedures"].values()
    other = counts["other_programs"].values()
    return {
        "calls": sum(tally["calls"] for tally in tallies),
        "replies": sum(tally["replies"] for tally in tallies),
        "replies_without_call": sum(counts["orphans"].values()),
        "other_programs": sum(calls + replies for calls, replies in other),
        "comments": counts.get("comments", 0),
    }


def _add_tallies(into: dict[str, dict[str, int]], more: dict[str, dict[str, int]]) -> None:
    for key, tally in more.items():
        sums = into.setdefault(key, dict.fromkeys(tally, 0))
        for name, value in tally.items():
            sums[name] += value


class _Writer:
    """Writes behind the decoder's back, a few batches at most."""

    WAITING = 3

    def __init__(self, dataset: DatasetWriter, pool: ThreadPoolExecutor) -> None:
        self._dataset, self._pool = dataset, pool
        self._waiting: deque[Future[None]] = deque()
        self.rows: Counter[str] = Counter()

    def write(self, batches: list[tuple[str, pa.RecordBatch]]) -> None:
        self.wait(self.WAITING - 1)
        self._waiting.append(self._pool.submit(self._write, batches))

    def _write(self, batches: list[tuple[str, pa.RecordBatch]]) -> None:
        for table, batch in batches:
            self.rows[table] += batch.num_rows
            self._dataset.write(table, batch)

    def wait(self, left: int = 0) -> None:
        while len(self._waiting) > left:
            self._waiting.popleft().result()


def ingest(
    traces: Sequence[str | Path],
    out: str | Path,
    progress: Callable[[str, int], None] | None = None,
) -> IngestSummary:
    """Read traces, one after the other, as one stretch of a site's life, into a dataset.

    Args:
        traces: the files, in the order of their time; ``-`` is standard input.
        out: the dataset's directory; made if need be, added to if it is there.
        progress: called with the trace's path and the rows it has given so far.

    Raises:
        OSError: a trace cannot be opened, or the dataset cannot be written; nothing is left
            of the ingest then.
        ValueError: a file is no trace.
    """
    began = time.monotonic()
    summary = IngestSummary(str(out))
    lives, losses = LivesBuilder(), Losses()
    with DatasetWriter(Path(out)) as dataset, ThreadPoolExecutor(1) as pool:
        writer = _Writer(dataset, pool)
        for path in traces:
            trace = open_trace(path)
            rows = 0
            lives.loss_told(trace.tells_loss)
            for batch in trace:
                lost = _losses(trace, lives, losses)
                lives.update(batch)
                messages = [("messages", each) for each in trace.take_messages()]
                writer.write([("operations", batch), *messages, *lost, *_taken(lives)])
                _set_aside(dataset, trace)
                rows += batch.num_rows
                if progress:
                    progress(trace.path, rows)
            writer.write([("messages", each) for each in trace.take_messages()])
            _set_aside(dataset, trace)
            writer.write(_losses(trace, lives, losses))
            summary.add(trace, trace.counts())
        lives.finish()
        while rest := _taken(lives):
            writer.write(rest)
        writer.wait()
        summary.loss = losses.estimate()
        summary.rows = {table: writer.rows[table] for table in TABLES}
        summary.seconds = round(time.monotonic() - began, 3)
        dataset.write_json(f"ingests/{dataset.number}.json", summary.to_json())
    return summary


def _losses(trace: Trace, lives: LivesBuilder, losses: Losses) -> list[tuple[str, pa.RecordBatch]]:
    """Tell the lives, and the estimate, what came to be known as lost; return the rows of it."""
    for gaps in trace.take_gaps():
        lives.update_loss(gaps)
    found = trace.take_loss()
    for batch in found:
        losses.add(batch)
    return [("loss", batch) for batch in found]


def _taken(lives: LivesBuilder) -> list[tuple[str, pa.RecordBatch]]:
    """Return the lives that have ended since the last time."""
    taken = [("files", lives.take_files()), ("names", lives.take_names())]
    return [(table, batch) for table, batch in taken if batch.num_rows]


def _set_aside(dataset: DatasetWriter, trace: Trace) -> None:
    """Write the damaged records where they can be looked at."""
    lines = []
    for record in trace.take_damaged():
        line: dict[str, Any] = {"trace": trace.path, **record}
        content = line.pop("bytes")
        try:
            line["text"] = content.decode("utf-8")
        except UnicodeDecodeError:
            line["base64"] = base64.b64encode(content).decode("ascii")
        lines.append(line)
    dataset.write_lines(f"quarantine/{dataset.number}.jsonl", lines)
