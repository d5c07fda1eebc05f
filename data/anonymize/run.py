"""One run: traces and datasets in, text or a dataset out, and the mapping saved."""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from birthmark.data.anonymize.mapping_file import MappingFile, open_mapping
from birthmark.data.anonymize.marks import passed_on
from birthmark.data.anonymize.settings import Settings
from birthmark.data.anonymize.tables import Progress, TableWriter
from birthmark.data.common.durable import error_context, output
from birthmark.data.common.rates import per_second
from birthmark.data.datasets.ingests import records
from birthmark.data.datasets.tables import DatasetWriter
from birthmark.data.generated import Mark, comment, in_comment, in_dataset
from birthmark.data.ingest.lives import take_rest
from birthmark.data.traces import unread
from birthmark.data.traces.inputs import TraceOrderCheck, reject_duplicates
from birthmark.data.traces.reader import marks_of, open_trace
from birthmark_native import LivesBuilder, TextRewriter

STREAM = "-"


@dataclass
class Summary:
    """The result of a run. For text, ``records_in`` equals ``records_out`` plus all dropped."""

    out: str
    mapping: str
    records_in: int = 0
    """Lines of text, records of traces, rows of datasets."""
    records_out: int = 0
    """Lines written; for tables, the rows of all."""
    comments_dropped: int = 0
    damaged_dropped: dict[str, int] = field(default_factory=dict)
    """Unreadable records by reason: they may hold what must not leave the site."""
    rows: dict[str, int] = field(default_factory=dict)
    mapped: dict[str, int] = field(default_factory=dict)
    """Entries of the mapping, by kind."""
    generated: list[Mark] = field(default_factory=list)
    """The marks of generated inputs (`data.generated`)."""
    warnings: list[str] = field(default_factory=list)
    """Warnings about likely mistakes, such as traces that hold no NFS."""
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the summary as JSON would have it, with the rate."""
        return asdict(self) | {"records_per_second": per_second(self.records_in, self.seconds)}


def anonymize(
    inputs: Sequence[str],
    out: str,
    mapping: Path,
    settings: Settings | None = None,
    seed: int | None = None,
    progress: Progress = lambda path, records: None,
) -> Summary:
    """Anonymize traces or datasets, one after the other, by one mapping.

    Args:
        inputs: nfsdump text (``-`` is standard input), which becomes one text; or captures,
            Parquet files of operations and datasets, which become one dataset.
        out: the text's file (``-`` is standard output), compressed as its name ends (``.gz``,
            ``.bz2``, ``.xz``, ``.zst``); or the dataset's directory, added to if it is there.
        mapping: the mapping's file; made if need be, else extended.
        settings: what stays and what is left out; None: as the file has it, or the defaults.
        seed: the new mapping follows from it: for examples and tests only.
        progress: called with an input and how many of its records were read.

    The mapping is saved before the output takes its name. After any failure there is no output.
    """
    began = time.monotonic()
    kinds = {_kind(path) for path in inputs}
    if len(kinds) > 1:
        raise ValueError(f"{', '.join(inputs)}: expected text alone, or no text among them")
    if out == STREAM and kinds != {"text"}:
        raise ValueError("-: expected a dataset's directory: only text goes to standard output")
    _check_apart(inputs, out, mapping)
    reject_duplicates(inputs)
    summary = Summary(out, str(mapping))
    with open_mapping(mapping, settings, seed) as file:
        if kinds == {"text"}:
            _text(inputs, file, summary, progress)
        else:
            _tables(inputs, file, summary, progress)
        summary.mapped = file.mapping.sizes()
    summary.seconds = round(time.monotonic() - began, 3)
    return summary


def _kind(path: str) -> str:
    """Return the kind of output that an input becomes: text or tables."""
    if path == STREAM:
        return "text"
    if Path(path).is_dir():
        records(Path(path))  # raises where it is no dataset
        return "tables"
    return "text" if open_trace(path).format == "nfsdump" else "tables"


def _check_apart(inputs: Sequence[str], out: str, mapping: Path) -> None:
    """Raise ValueError if the output would replace an input or the mapping."""
    others = [mapping, *(Path(path) for path in inputs if path != STREAM)]
    if out != STREAM and Path(out).resolve() in [path.resolve() for path in others]:
        raise ValueError(f"{out}: expected an output apart from the inputs and the mapping")


def _text(inputs: Sequence[str], file: MappingFile, summary: Summary, progress: Progress) -> None:
    with _text_output(summary.out) as (path, suffix):
        rewriter = TextRewriter(str(path), suffix)
        _mark(rewriter, summary, [mark for each in inputs for mark in marks_of(each)])
        for each in inputs:
            heading = in_comment(rewriter.open(each))  # of standard input this is the first sight
            _mark(rewriter, summary, [heading] if heading else [])
            while rewriter.step(file.mapping):
                progress(each, rewriter.counts()["lines"])
        rewriter.finish()
        file.save()
    counts = rewriter.counts()
    summary.records_in, summary.records_out = counts["lines"], counts["written"]
    summary.records_out += len(summary.generated)
    summary.comments_dropped = counts["comments"] - len(summary.generated)
    summary.damaged_dropped = counts["damaged"]


def _mark(rewriter: TextRewriter, summary: Summary, marks: Sequence[Mark]) -> None:
    """Write the marks that the text does not have yet."""
    for mark in passed_on(marks):
        if mark not in summary.generated:
            rewriter.write(comment(mark))
            summary.generated.append(mark)


@contextmanager
def _text_output(out: str) -> Iterator[tuple[Path, str]]:
    """Yield the file to write, and its suffix, which selects the compression.

    Standard output receives the text only when all of it is ready and the mapping is saved.
    """
    if out != STREAM:
        with output(Path(out)) as temporary:
            yield temporary, Path(out).suffix.lstrip(".")
        return
    with (
        error_context(Path(tempfile.gettempdir())),
        tempfile.NamedTemporaryFile(prefix="birthmark-") as spool,
    ):
        yield Path(spool.name), ""
        shutil.copyfileobj(spool, sys.stdout.buffer, 1 << 20)
        sys.stdout.buffer.flush()


def _tables(inputs: Sequence[str], file: MappingFile, summary: Summary, progress: Progress) -> None:
    damaged: Counter[str] = Counter()
    marks: list[Mark] = []
    with DatasetWriter(Path(summary.out)) as dataset:
        writer = TableWriter(dataset, file.mapping, file.settings)
        lives, beginnings = LivesBuilder(), TraceOrderCheck()
        for each in inputs:
            if Path(each).is_dir():
                marks += in_dataset(Path(each))
                summary.records_in += writer.add_dataset(Path(each), progress)
                continue
            trace = open_trace(each)
            writer.add_trace(trace, lives, beginnings, progress)
            marks += [trace.generated] if trace.generated else []
            counts = trace.counts()
            summary.warnings += unread.warnings(each, counts)
            summary.records_in += counts["records"]
            damaged += Counter(counts["damaged"])
        for rest in take_rest(lives):
            writer.write(rest)
        summary.rows = dict(writer.rows)
        summary.records_out = writer.rows.total()
        summary.damaged_dropped = dict(sorted(damaged.items()))
        summary.generated = passed_on(marks)
        # nothing else: an ingest's record names its traces
        record = {
            "anonymized": True,
            "rows": summary.rows,
            "damaged": summary.damaged_dropped,
            "generated": summary.generated,
        }
        dataset.write_record(record)
        file.save()
