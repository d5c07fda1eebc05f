"""Count operations: from traces to a scan's tables."""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from birthmark.data.common.durable import error_context
from birthmark.data.common.durations import duration
from birthmark.data.common.rates import per_second
from birthmark.data.generated import Mark, distinct, marked
from birthmark.data.scan import words
from birthmark.data.scan.files import FileMap
from birthmark.data.scan.merge import merged
from birthmark.data.scan.outputs import FORMATS, Batches, check, format_of, is_directory, write
from birthmark.data.scan.scratch import Stage
from birthmark.data.scan.sources import Source
from birthmark.data.scan.tables import FILES, KEYS, counts_schema
from birthmark.data.settings import Counting
from birthmark.data.traces.inputs import reject_duplicates
from birthmark_native import ScanCounter

_DEFAULTS = Counting()


@dataclass
class Plan:
    """The parameters of a count.

    Attributes:
        period: the length of a period, µs.
        by: the keys that distinguish rows (:data:`birthmark.data.scan.tables.KEYS`).
        ops: the operations that have rows of their own; all if none.
        clients, uids, gids: count only the operations of these, if there is a list.
    """

    period: int = duration(_DEFAULTS.period)
    by: list[str] = field(default_factory=lambda: words.keys(_DEFAULTS.by))
    ops: Sequence[str] | None = field(default_factory=lambda: words.operations(_DEFAULTS.ops))
    clients: Sequence[str] | None = None
    uids: Sequence[int] | None = None
    gids: Sequence[int] | None = None

    @classmethod
    def of(cls, asked: Counting) -> Plan:
        """Parse the options of a count.

        Raises:
            ValueError: a word has no meaning.
        """
        return cls(
            duration(asked.period),
            words.keys(asked.by),
            words.operations(asked.ops),
            asked.client.split(",") if asked.client else None,
            words.numbers(asked.user) if asked.user else None,
            words.numbers(asked.group) if asked.group else None,
        )

    def __post_init__(self) -> None:
        self.by = [key for key in KEYS if key in self.by]

    def counter(self, files: bool) -> ScanCounter:
        """Return a counter with these parameters."""
        return ScanCounter(
            self.period,
            self.by,
            None if self.ops is None else list(self.ops),
            files,
            None if self.clients is None else set(self.clients),
            None if self.uids is None else set(self.uids),
            None if self.gids is None else set(self.gids),
        )


@dataclass
class ScanSummary:
    """The result of a scan. ``warnings`` point to likely mistakes."""

    out: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    operations: int = 0
    rows: int = 0
    files: int | None = None
    replies_without_call: int = 0
    records_set_aside: dict[str, int] = field(default_factory=dict)
    generated: list[Mark] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON would have it, with the rate."""
        return asdict(self) | {"operations_per_second": per_second(self.operations, self.seconds)}

    def add(self, source: Source) -> None:
        """Add a source's counts besides operations."""
        self.traces.append(source.path)
        self.generated = distinct([*self.generated, *source.generated])
        self.warnings += source.warnings()
        counts = source.counts or {}
        self.replies_without_call += sum(counts.get("orphans", {}).values())
        damaged = Counter(self.records_set_aside) + Counter(counts.get("damaged", {}))
        self.records_set_aside = dict(damaged)


def scan(
    traces: Sequence[str | Path],
    out: str | Path | None,
    plan: Plan | None = None,
    files: str | Path | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> ScanSummary:
    """Count the operations of traces, read one after the other, and write the tables.

    Args:
        traces: nfsdump text, captures, operations in Parquet, and datasets; ``-`` is standard
            input, for text and captures.
        out: where to write the counts: a file whose suffix selects the format, ``-`` for CSV on
            standard output, or a directory for ``counts`` and ``files`` in every format.
        plan: what to count; by default all operations, per server, in periods of 5 minutes.
        files: where to write the map of files.
        progress: called with a trace's path and the operations counted so far.

    Memory is bounded by the keys of the open periods, about a minute's beyond the current one, plus
    some 100 bytes per file if files or directories are counted.

    Raises:
        OSError: a trace cannot be read or a table cannot be written; then no table remains.
        ValueError: a file is no trace, or is named twice, or a table's suffix is unknown.
    """
    plan = plan or Plan()
    reject_duplicates(traces)
    counts_to, files_to = _targets(out, files)
    began = time.monotonic()
    counter = plan.counter(bool(files_to))
    summary = ScanSummary([*counts_to, *files_to])
    beside = _folder(summary.out)
    with error_context(Path(beside)), ExitStack() as stack:
        stage = stack.enter_context(Stage(counts_schema(plan.by), beside))
        seen = stack.enter_context(FileMap(counter, beside))
        for path in traces:
            source = Source(str(path), counter.columns)
            for batch in source:
                counter.update(batch)
                summary.operations += batch.num_rows
                stage.take(counter)
                seen.take(bool(files_to))
                if progress:
                    progress(source.path, summary.operations)
            summary.add(source)
        counter.finish()
        stage.take(counter, last=True)
        rows = _rows(stage, plan, counter.again)
        for target in counts_to:
            write(target, marked(stage.schema, summary.generated), _counted(rows, summary))
        if files_to:
            summary.files = seen.finish()
        for target in files_to:
            write(target, marked(FILES, summary.generated), seen.batches)
    if counts_to and summary.operations and not summary.rows:
        asked = "the clients, users and groups asked for"
        summary.warnings.append(f"none of {summary.operations:,} operations is of {asked}")
    summary.seconds = round(time.monotonic() - began, 3)
    return summary


def _rows(stage: Stage, plan: Plan, again: bool) -> Batches:
    """Return a function that gives the rows, merged if periods came more than once."""
    if again:
        return lambda: merged(stage.pieces(), plan.by, plan.period)
    return stage.batches


def _counted(rows: Batches, summary: ScanSummary) -> Batches:
    def batches() -> Iterator[pa.RecordBatch]:
        summary.rows = 0
        for batch in rows():
            summary.rows += batch.num_rows
            yield batch

    return batches


def _targets(out: str | Path | None, files: str | Path | None) -> tuple[list[str], list[str]]:
    """Return the names of the tables of counts and of files to be written."""
    counts_to: list[str] = []
    files_to: list[str] = []
    if files is not None:
        check(str(files))
        files_to.append(str(files))
    if out is not None and format_of(str(out)) is None and is_directory(str(out)):
        Path(out).mkdir(parents=True, exist_ok=True)
        counts_to += [str(Path(out, f"counts.{kind}")) for kind in FORMATS]
        files_to += [str(Path(out, f"files.{kind}")) for kind in FORMATS]
    elif out is not None:
        check(str(out))
        counts_to.append(str(out))
    return counts_to, files_to


def _folder(targets: Sequence[str]) -> str:
    """Return a folder with room for the temporary files."""
    named = next((target for target in targets if target != "-"), None)
    return str(Path(named).parent) if named else tempfile.gettempdir()
