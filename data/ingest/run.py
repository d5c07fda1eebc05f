"""Traces into a dataset: decode, join, follow the lives of files and names, write Parquet."""

from __future__ import annotations

import base64
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from birthmark.data.datasets.tables import TABLES, DatasetWriter
from birthmark.data.ingest.lives import Rows, take_finished, take_rest, update
from birthmark.data.ingest.loss import Losses
from birthmark.data.ingest.summary import IngestSummary, held_already
from birthmark.data.traces.inputs import TraceOrderCheck, reject_duplicates
from birthmark.data.traces.reader import Trace, open_trace
from birthmark_native import LivesBuilder
from birthmark_native.results import Damaged


class BackgroundWriter:
    """Writes in the background of the decoder, with a few batches pending at most."""

    WAITING = 3

    def __init__(self, dataset: DatasetWriter, pool: ThreadPoolExecutor) -> None:
        self._dataset, self._pool = dataset, pool
        self._waiting: deque[Future[None]] = deque()
        self.rows: Counter[str] = Counter()

    def write(self, batches: Rows) -> None:
        """Queue rows for tables; raise the error of an earlier write, if any."""
        self.wait(self.WAITING - 1)
        self._waiting.append(self._pool.submit(self._write, batches))

    def _write(self, batches: Rows) -> None:
        for table, batch in batches:
            self.rows[table] += batch.num_rows
            self._dataset.write(table, batch)

    def wait(self, left: int = 0) -> None:
        """Wait until no more than ``left`` writes are pending."""
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
        out: the dataset's directory; made if needed, added to if it exists. It waits while another
            process writes into it.
        progress: called with the trace's path and the rows it has given so far.

    Raises:
        OSError: a trace cannot be opened, or the dataset cannot be written.
        ValueError: a file is no trace, or most of it is later than this host's clock; it is named
            twice, or follows one of the same server that begins later.

    After an error, nothing of the ingest remains, nor a directory made for it.
    """
    began = time.monotonic()
    reject_duplicates(traces)
    summary, beginnings = IngestSummary(str(out)), TraceOrderCheck()
    lives, losses = LivesBuilder(), Losses()
    with DatasetWriter(Path(out)) as dataset, ThreadPoolExecutor(1) as pool:
        writer = BackgroundWriter(dataset, pool)

        def read(trace: Trace) -> None:
            rows = 0
            lives.set_losses_known(trace.tells_loss)
            for chunk in beginnings.of(trace):
                update(lives, chunk)
                for batch in chunk.loss:
                    losses.add(batch)
                writer.write([*chunk.rows(), *take_finished(lives)])
                set_aside(dataset, trace.path, chunk.damaged)
                rows += sum(map(len, chunk.operations))
                if progress:
                    progress(trace.path, rows)
            summary.add(trace, trace.counts())

        for path in traces:
            with error_context(path):
                read(open_trace(path))
        for rest in take_rest(lives):
            writer.write(rest)
        writer.wait()
        summary.loss = losses.estimate()
        summary.rows = {table: writer.rows[table] for table in TABLES}
        summary.others = dataset.places.others()
        summary.seconds = round(time.monotonic() - began, 3)
        summary.warnings += held_already(Path(out), summary.traces)
        dataset.write_record(summary.record())
    return summary


@contextmanager
def error_context(path: str | Path) -> Iterator[None]:
    """Add the trace's name to an error."""
    try:
        yield
    except (ValueError, OverflowError) as error:
        if str(error).startswith(f"{path}: "):
            raise
        raise ValueError(f"{path}: {error}") from error


def set_aside(dataset: DatasetWriter, path: str, damaged: Iterable[Damaged]) -> None:
    """Write the damaged records of a trace to the quarantine."""
    lines = []
    for record in damaged:
        line: dict[str, Any] = {"trace": path, **record}
        content = line.pop("bytes")
        try:
            line["text"] = content.decode("utf-8")
        except UnicodeDecodeError:
            line["base64"] = base64.b64encode(content).decode("ascii")
        lines.append(line)
    dataset.write_lines(f"quarantine/{dataset.number}.jsonl", lines)
